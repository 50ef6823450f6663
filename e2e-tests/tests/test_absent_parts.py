"""Stores and brokers come and go; services wait, say so, and lose nothing."""

import subprocess
import sys
from pathlib import Path

from murmuration_testkit.people import Person
from murmuration_testkit.processes import STORES, all_ready, caught_up, control, kill, pause, pid, resume, waiting_for
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


def test_whoever_asks_kafka_while_it_restarts_lives_on(tmp_path):
    """How far a group is, asked by many threads as watchdogs do; the workers are the same processes afterwards."""
    workers = ("count-aggregator", "fanout-worker")
    pids = {name: pid(name) for name in workers}
    answers = tmp_path / "answers"
    with answers.open("wb") as out:
        command = [sys.executable, str(Path(__file__).with_name("asking.py"))]
        asking = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out)

    def answered():
        enough = answers.stat().st_size + 100
        eventually(lambda: asking.poll() is not None or answers.stat().st_size > enough, within=60)

    try:
        answered()
        for disturb in (kill, kill, pause, resume):
            disturb("kafka")
            if disturb is pause:
                steadily(asking.poll, None, during=3, every=0.5)
            else:
                answered()
    finally:
        resume("kafka")
        asking.communicate(timeout=60)
        all_ready()
    assert asking.returncode == 0
    assert {name: pid(name) for name in workers} == pids
    caught_up("count-aggregator")


def _waits(service: str) -> bool:
    """Tell whether the service answers that it waits for something, rather than not at all."""
    missing = waiting_for(service)
    return bool(missing) and "not up" not in missing[0]
