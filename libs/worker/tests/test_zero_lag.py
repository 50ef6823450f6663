"""When whatever was committed before has been handled. count-aggregator's tests have it in a whole world."""

import pytest

from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.zero_lag import NeverStillError, ZeroLag

APART = 5.0
PARTITION = ("topic-id", 0)


class World:
    """A bridge whose clock is some milliseconds ahead, and a topic that is handled one event a second."""

    def __init__(self, end=3, ahead_ms=0):
        self.seconds = 1_000.0
        self.ahead_ms = ahead_ms
        self.end = end
        self.handled = 0

    def sleep(self, seconds):
        self.seconds += seconds
        self.handled += 1

    def wait(self, patience=60.0):
        ZeroLag(
            lambda: int(self.seconds * 1000 + self.ahead_ms),
            lambda: {PARTITION: self.end},
            lambda: {PARTITION: self.handled},
            "somebody to handle",
            patience,
            APART,
            now=lambda: self.seconds,
            sleep=self.sleep,
        ).wait()


@pytest.mark.parametrize("ahead_ms", [0, 60_000])
@pytest.mark.parametrize("end", [0, 20])
def test_it_returns_when_the_ends_are_passed(end, ahead_ms):
    """Not before so many seconds by our own clock, and not before all is handled that was there by then."""
    world = World(end, ahead_ms)
    world.wait()
    assert world.seconds - 1_000 >= APART
    assert world.handled >= end


def test_a_bridge_whose_clock_is_behind_is_waited_for():
    """By what it says of itself."""
    world = World(ahead_ms=-10_000)
    world.wait()
    assert world.seconds - 1_000 > APART + 10


def test_patience_ends_with_who_was_waited_for():
    """And why."""
    with pytest.raises(NeverStillError, match=r"waited 7 s for somebody to handle what was published"):
        World(end=10**9).wait(patience=7)
    world = World(ahead_ms=-(10**9))
    with pytest.raises(NeverStillError, match="the bridge to publish what was committed"):
        world.wait(patience=7)
    assert world.seconds - 1_000 <= APART + 7 + 1


def test_a_store_that_is_away_is_asked_again():
    """And named when patience ends."""
    world = World()

    def away():
        raise StoreAwayError("no route")

    lag = ZeroLag(away, dict, dict, "x", 3, APART, now=lambda: world.seconds, sleep=world.sleep)
    with pytest.raises(NeverStillError, match="no route"):
        lag.wait()
