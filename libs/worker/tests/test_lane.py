"""Whatever comes, fails and succeeds, in whatever order: each key in its order, acknowledged in the partition's."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmuration_worker.lane import Lane, Order

KEYS = "aab"  # one is asked for more often
BATCH, AT_ONCE, ROOM = 3, 2, 8


class World:
    """A lane, whatever may happen to it, and what must hold all the time."""

    def __init__(self, chance):
        self._chance = chance
        self._lane = Lane(Order(lambda message: message[1], BATCH, AT_ONCE, ROOM))
        self._came = []
        self._trying = []
        self._begun = []
        self._aside = []
        self._done = set()
        self.acknowledged = []

    def step(self):
        """Let one thing happen."""
        happens = [self._come, self._come, self.begin, self.begin, self.finish, self._fail, self._lane.retry]
        self._chance.choice(happens)()

    def settle(self):
        """Let everything succeed at last; whoever is set aside is tried again from time to time."""
        for _ in range(3 * len(self._came) + 3):
            self._lane.retry()
            self.begin()
            self.finish()
        assert self.acknowledged == self._came
        assert len(self._lane) == 0

    def forget(self):
        """Drop what is not tried, and let the rest succeed."""
        dropped = self._lane.forget()
        tried = [message for work in self._trying for message in work.messages.values()]
        assert Counter(dropped) == Counter(self._came) - Counter(self._done) - Counter(tried)
        while self._trying:
            self.finish()
        assert self._lane.begin() is None

    def begin(self):
        work = self._lane.begin()
        if work is None:
            return
        messages = list(work.messages.values())
        assert {key for _, key in messages} == {work.key}
        assert work.key not in [other.key for other in (*self._trying, *self._aside) if other is not work]
        if work in self._aside:
            self._aside.remove(work)
        else:
            own = [message for message in self._came if message[1] == work.key]
            begun = [message for message in self._begun if message[1] == work.key]
            assert own[len(begun) :][: len(messages)] == messages
            self._begun += messages
        self._trying.append(work)
        assert len(messages) <= BATCH
        assert len(self._trying) <= AT_ONCE
        assert len(self._begun) - len(self.acknowledged) <= ROOM

    def finish(self):
        if self._trying:
            work = self._trying.pop(self._chance.randrange(len(self._trying)))
            self._done |= set(work.messages.values())
            self.acknowledged += self._lane.done(work)
            head = next((n for n, message in enumerate(self._came) if message not in self._done), len(self._came))
            assert self.acknowledged == self._came[:head]

    def _fail(self):
        if self._trying:
            self._aside.append(self._trying.pop(self._chance.randrange(len(self._trying))))
            self._lane.failed(self._aside[-1])

    def _come(self):
        message = len(self._came), self._chance.choice(KEYS)
        self._came.append(message)
        self._lane.add(message)
        assert len(self._lane) == len(self._came) - len(self.acknowledged)


@pytest.mark.parametrize("ends", [World.settle, World.forget])
@settings(deadline=None, max_examples=500)
@given(st.randoms(use_true_random=False), st.integers(0, 60))
def test_the_rule_holds_whatever_happens(ends, chance, steps):
    """And in the end everything is acknowledged, or dropped behind what was."""
    world = World(chance)
    for _ in range(steps):
        world.step()
    ends(world)


def lane(key=lambda message: message, *, batch=10, at_once=10, room=100):
    return Lane(Order(key, batch, at_once, room))


def filled(lane, *messages):
    for message in messages:
        lane.add(message)
    return lane


def begun(lane):
    """Begin all that may be; return each batch's messages."""
    works = []
    while work := lane.begin():
        works.append(work)
    return works


def test_different_keys_are_side_by_side_and_one_key_is_a_batch():
    """What waits of a key goes together."""
    works = begun(filled(lane(lambda message: message[0]), "a1", "b1", "a2", "c1"))
    assert [[*work.messages.values()] for work in works] == [["a1", "a2"], ["b1"], ["c1"]]


def test_with_one_key_for_all_it_is_the_order_of_the_partition():
    """A batch is everything that came meanwhile, up to its size."""
    one = filled(lane(lambda _: None, batch=2), 1, 2, 3)
    (first,) = begun(one)
    assert [*first.messages.values()] == [1, 2]
    assert one.done(first) == [1, 2]
    assert [[*work.messages.values()] for work in begun(one)] == [[3]]


def test_others_pass_one_that_takes_long_and_are_acknowledged_behind_it():
    """A crash repeats them, and no more than `room`."""
    one = filled(lane(room=4), *range(6))
    head, *others = begun(one)
    assert [*head.messages.values()] == [0]
    assert [one.done(work) for work in others] == [[], [], []]
    assert begun(one) == []
    assert one.done(head) == [0, 1, 2, 3]
    assert [[*work.messages.values()] for work in begun(one)] == [[4], [5]]


def test_of_many_that_wait_for_the_same_thing_one_at_a_time_is_tried_in_turn():
    """A store that is away is asked by one, not by all; and who waits for another thing has a turn, too."""
    one = filled(lane(), *range(4))
    for work in begun(one):
        one.failed(work)
    tried = []
    for _ in range(5):
        one.retry()
        (work,) = begun(one)
        tried += work.messages
        one.failed(work)
    assert tried == [0, 1, 2, 3, 0]


def test_each_that_succeeds_again_brings_two_more():
    """What was away is back: all are done soon, and not all at once."""
    one = filled(lane(), *range(8))
    for work in begun(one):
        one.failed(work)
    one.retry()
    waves = []
    while works := begun(one):
        waves.append(len(works))
        for work in works:
            one.done(work)
    assert waves == [1, 2, 4, 1]
    assert len(one) == 0


def test_one_that_succeeds_at_its_first_try_says_nothing_of_those_that_failed():
    """It may need nothing of what they wait for."""
    one = filled(lane(), 0, 1)
    first, second = begun(one)
    one.failed(first)
    one.done(second)
    assert begun(one) == []
