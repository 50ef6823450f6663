"""How far a partition is acknowledged is the offset behind the last one."""

from murmuration_worker.acknowledged import Acknowledged


def test_what_is_acknowledged_counts_for_each_partition_and_never_moves_back():
    """A repeat, after a rebalance, is older; a partition of which nothing was acknowledged is not named."""
    acknowledged = Acknowledged()
    for partition, offset in ((3, 7), (3, 8), (4, 0), (3, 5)):
        acknowledged.note(("FollowChanged", partition), offset)
    assert acknowledged.offsets() == {("FollowChanged", 3): 9, ("FollowChanged", 4): 1}
