"""Topics are never said to be settled until a moment before which something is not handled."""

from hypothesis import given
from hypothesis import strategies as st

from murmuration_worker.settled import MOST, Settled
from murmuration_worker.settling import Settling

PARTITIONS = frozenset((topic, number) for topic in ("FollowChanged", "MuteChanged") for number in range(12))
ONE, OTHER = ("FollowChanged", 3), ("MuteChanged", 0)


class Pipeline:
    """A stream, a bridge, a partition and its workers; time is what happens."""

    def __init__(self):
        self.now = 1
        self.commits = []  # when, in order
        self.published = 0
        self.handled = 0
        self.said = 0  # by the bridge

    def commit(self):
        self.commits.append(self.now)

    def publish(self):
        self.published = min(self.published + 1, len(self.commits))

    def handle(self):
        self.handled = min(self.handled + 1, self.published)

    def say(self):
        """All that is committed is published: then the bridge may say so."""
        if self.published == len(self.commits):
            self.said = self.now


STEPS = st.sampled_from([Pipeline.commit, Pipeline.publish, Pipeline.handle, Pipeline.say, None])


@given(st.lists(st.one_of(STEPS, STEPS, st.integers(0, 3)), max_size=80))
def test_whatever_was_committed_before_it_is_handled(steps):
    """Whatever happens between two reads of a look, and however old what is known of the worker is; and it moves."""
    pipeline, settled = Pipeline(), Settled()
    until = end = offset = 0
    for step in steps:
        pipeline.now += 1
        if step == 0:
            until = pipeline.said
        elif step == 1:
            end = pipeline.published
            settled.add(until, end)
            until = 0  # a moment that is read once is taken with one end
        elif step == 2:
            offset = pipeline.handled
        elif step == 3:
            moment = settled.reach(offset)
            assert sum(at < moment for at in pipeline.commits) <= pipeline.handled
        elif step:
            step(pipeline)
    pipeline.published = pipeline.handled = len(pipeline.commits)
    pipeline.now += 1
    pipeline.say()
    settled.reach(pipeline.handled)
    settled.add(pipeline.said, pipeline.published)
    assert settled.reach(pipeline.handled) == pipeline.now


def test_a_partition_that_is_far_behind_keeps_a_few_moments_and_catches_up():
    """Memory is bounded; once it has caught up, the next moment counts."""
    settled = Settled()
    for n in range(1, 10 * MOST):
        settled.add(n, n)
    assert settled.reach(MOST // 2) == MOST // 2
    assert settled.reach(10 * MOST) == MOST
    settled.add(10 * MOST, 10 * MOST)
    assert settled.reach(10 * MOST) == 10 * MOST


class World:
    """What a look asks, in which order; and what it says."""

    def __init__(self):
        self.asked = []
        self.until = {"FollowChanged": 7, "MuteChanged": 9}
        self.end = dict.fromkeys(PARTITIONS, 0)
        self.acknowledged = {}
        self.committed_offsets = dict.fromkeys(PARTITIONS, 0)
        self.said = {}
        self.start = dict.fromkeys(PARTITIONS, 0)
        parts = self, self.ends, lambda: self.acknowledged, self.committed, self.starts
        self.settling = Settling(PARTITIONS, *parts, self.said.update)

    def shown_until(self):
        self.asked.append("bridge")
        return self.until

    def ends(self, _partitions):
        self.asked.append("ends")
        return self.end

    def committed(self, partitions):
        self.asked.append({*partitions})
        return {each: self.committed_offsets[each] for each in partitions}

    def starts(self, partitions):
        return {each: self.start[each] for each in partitions}


def test_idle_partitions_are_settled_as_soon_as_the_bridge_says_so():
    """Of each topic by its own table; Kafka is asked for ends after the bridge was heard, and for no offsets."""
    world = World()
    world.settling.look()
    assert world.said == {partition: 7 if partition[0] == "FollowChanged" else 9 for partition in PARTITIONS}
    assert world.asked == ["bridge", "ends"]


def test_a_partition_is_settled_when_this_process_or_the_group_has_handled_it():
    """What Kafka knows is asked only for those of which that is not known here; others go on meanwhile."""
    world = World()
    world.end |= {ONE: 5, OTHER: 5}
    world.acknowledged = {OTHER: 5}
    world.settling.look()
    assert ONE not in world.said
    assert world.said[OTHER] == 9
    assert world.asked[-1] == {ONE}
    world.committed_offsets[ONE] = 5
    world.until["FollowChanged"] = 8
    world.settling.look()
    assert world.said[ONE] == 8


def test_a_partition_that_kafka_has_emptied_is_settled_for_a_group_that_has_committed_nothing():
    """A group of another prefix comes to it; one with something left waits until that is handled."""
    world = World()
    world.end |= {ONE: 1_000, OTHER: 1_000}
    world.start |= {ONE: 1_000, OTHER: 999}
    world.settling.look()
    assert world.said[ONE] == 7
    assert OTHER not in world.said


def test_a_partition_that_kafka_has_emptied_before_the_group_was_through_is_not_settled():
    """What it gave up is made up for when the next event shows the gap; until then somebody may have left."""
    world = World()
    world.end[ONE] = world.start[ONE] = 1_000
    world.committed_offsets[ONE] = 500
    world.settling.look()
    assert ONE not in world.said


def test_a_bridge_of_which_nothing_is_known_settles_nothing():
    """It is stopped, an older release, or has found a gap."""
    world = World()
    world.until = {"FollowChanged": 0, "MuteChanged": 0}
    world.settling.look()
    assert world.said == {}
