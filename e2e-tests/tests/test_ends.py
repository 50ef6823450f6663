"""Processes end when they are asked to, and come back however they ended."""

import os
import signal

import pytest

from murmuration_testkit.processes import STORES, all_ready, kill, page, pid, terminate
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

EVERYTHING = (*PROCESSES, "gateway", *STORES)


@pytest.fixture(autouse=True)
def ready_again():
    """Leave the stack as it was found."""
    yield
    all_ready()


def test_every_service_ends_soon_after_sigterm():
    """It finishes what it has in hand, which is a matter of seconds; the supervisor starts it again."""
    before = {name: pid(name) for name in PROCESSES}
    for name in PROCESSES:
        terminate(name)
    eventually(lambda: _still(before), [])


def test_whatever_was_killed_is_back_within_seconds_and_answers():
    """All at once, stores too. The supervisor starts each again, and nobody is left holding its port."""
    before = {name: pid(name) for name in EVERYTHING}
    assert all(before.values()), before  # a signal to 0 would end this test run
    for number in before.values():
        os.kill(number, signal.SIGKILL)
    eventually(lambda: _still(before), [])
    for name in PROCESSES:
        eventually(lambda name=name: page(name, "/healthz")[0], 200, within=90)


@pytest.mark.parametrize("process", STORES)
def test_the_services_survive_the_death_of_one_store(process):
    """None of them ends with it, and all are ready when it is back."""
    pids = {name: pid(name) for name in PROCESSES}
    assert kill(process)
    all_ready()
    assert {name: pid(name) for name in PROCESSES} == pids


def _still(before):
    """Name the processes that have not been replaced."""
    return [name for name, number in before.items() if pid(name) in (0, number)]
