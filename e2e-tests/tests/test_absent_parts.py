"""Stores and brokers come and go; services wait, say so, and lose nothing."""

from murmuration_testkit.people import Person
from murmuration_testkit.processes import STORES, all_ready, control, pid, waiting_for
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually, steadily


def test_services_that_start_before_their_stores_wait_for_them():
    """No crash loop: the same process says what it waits for, and goes on when it comes; nothing is lost."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    control("stop", "cdc-bridge", "count-aggregator", "fanout-worker")
    alice.follow(bob)
    bob.tweet("hello")
    control("stop", *STORES, *PROCESSES)
    control("start", *PROCESSES)
    try:
        eventually(lambda: [name for name in PROCESSES if not _waits(name)], [], within=60, every=0.5)
        pids = {name: pid(name) for name in PROCESSES}
        steadily(lambda: {name: pid(name) for name in PROCESSES}, pids, during=3, every=1)
    finally:
        control("start", *STORES)
    all_ready()
    assert {name: pid(name) for name in PROCESSES} == pids
    eventually(lambda: (alice.timeline(), alice.counts(), bob.counts()), (["hello"], (0, 1), (1, 0)))


def test_a_redis_that_forgot_everything_is_a_slower_read():
    """Timelines are a cache: after a restart they are rebuilt from the tables."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    said = [bob.tweet("one"), bob.tweet("two")]
    eventually(alice.timeline, ["two", "one"])
    control("stop", "redis")
    assert alice.whole_timeline() == said[::-1]
    control("start", "redis")
    all_ready()
    bob.tweet("three")
    eventually(alice.timeline, ["three", "two", "one"])


def _waits(service: str) -> bool:
    """Tell whether the service answers that it waits for something, rather than not at all."""
    missing = waiting_for(service)
    return bool(missing) and "not up" not in missing[0]
