"""Services end when they are asked to, and come back."""

import os
import signal

import pytest

from murmuration_testkit.people import get
from murmuration_testkit.processes import STORES, all_ready, pid, terminate
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

OTHERS = ("gateway", *STORES)


@pytest.mark.parametrize("service", PROCESSES)
def test_a_service_ends_soon_after_sigterm(service):
    """It finishes what it has in hand, which is a matter of seconds; the supervisor starts it again."""
    _is_replaced(service, terminate, within=10)


@pytest.mark.parametrize("process", [*PROCESSES, *OTHERS])
def test_a_process_that_was_killed_is_back_within_five_seconds(process):
    """The supervisor starts it again, and it works: nobody is left holding its port."""
    _is_replaced(process, lambda name: os.kill(pid(name), signal.SIGKILL), within=5)
    all_ready()


@pytest.mark.parametrize("service", PROCESSES)
def test_a_service_that_was_killed_answers_soon(service):
    """A process that begins again and again would not."""
    os.kill(pid(service), signal.SIGKILL)
    eventually(lambda: get(f"/{service}/healthz")[0], 200, within=10)


@pytest.fixture(autouse=True)
def ready_again():
    """Leave the stack as it was found."""
    yield
    all_ready()


def _is_replaced(process, end, within):
    before = pid(process)
    assert before
    end(process)
    eventually(lambda: pid(process) not in (0, before), expected=True, within=within)
