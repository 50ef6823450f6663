"""Ready is a statement about the work."""

from contextlib import suppress

from murmuration_worker.progress import LONGEST_SECONDS, Progress, Sight


def test_a_try_that_takes_too_long_is_not_ready():
    """Up is not enough: work must go on."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with(("T", 3)):
        assert progress.waiting_for() == []
        now[0] = LONGEST_SECONDS + 1
        assert progress.waiting_for() == ["a batch of T/3: no sign of life for 31 s"]
    assert progress.waiting_for() == []


def test_a_batch_that_is_tried_again_and_again_is_no_reason_to_be_unready():
    """A store that is away is shared by all replicas; each try of ours that ends is a sign of life."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    with progress.busy_with(("T", 3)):
        for _ in range(3):
            now[0] += LONGEST_SECONDS - 1
            progress.heartbeat()
            assert progress.waiting_for() == []


def test_what_was_tried_is_a_heartbeat_even_in_vain():
    """A store that is waited for is no reason to end the process."""
    progress = Progress()
    with suppress(KeyError), progress.busy_with(("T", 3)):
        progress.heartbeat()
        raise KeyError
    assert progress.sights() == {("T", 3): Sight(heartbeats=2)}


def test_each_batch_is_told_apart_and_belongs_to_its_partition():
    """Whoever looks sees whether a partition still has the same one."""
    progress = Progress()
    with progress.busy_with(("T", 3)):
        first = progress.sights()[("T", 3)].batch
    with progress.busy_with(("T", 3)):
        assert progress.sights()[("T", 3)].batch not in (None, first)
    with progress.busy_with(("T", 4)):
        assert progress.sights()[("T", 3)] == Sight(heartbeats=2)


def test_to_wait_for_somebody_is_a_heartbeat():
    """A registry that is away is waited for within a batch."""
    progress = Progress()
    with progress.busy_with(("T", 3)):
        progress.pause(0)
        assert progress.sights()[("T", 3)].heartbeats == 1
