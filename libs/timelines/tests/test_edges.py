"""What settles whom timelines show."""

from contracts import TOPICS
from murmuration_timelines.edges import PARTITIONS


def test_the_partitions_are_those_of_the_topics_that_change_whom_a_timeline_shows():
    """Each of them: a partition that nobody asks about could hide an unfollow."""
    assert len(PARTITIONS) == sum(TOPICS[topic].partitions for topic in ("FollowChanged", "MuteChanged"))
