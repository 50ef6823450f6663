"""Which requests show that a process is stuck."""

import pytest

from murmuration_runtime.deadlines import Deadline
from murmuration_runtime.requests_in_flight import RequestsInFlight

STUCK = 30.0


def requests(*, began=(), ended=(), waits_for_store=()):
    """Let requests begin at these times, and others end."""
    flight = RequestsInFlight()
    for at in ended:
        request = Deadline(0)
        flight.begin(request, 0)
        flight.end(request, at)
    for number, at in enumerate(began):
        request = Deadline(0)
        request.waits_for += ["dynamodb"] * (number in waits_for_store)
        flight.begin(request, at)
    return flight


@pytest.mark.parametrize(
    ("world", "stuck"),
    [
        ({}, False),  # nobody asks
        ({"ended": [10]}, False),  # nobody has asked for long
        ({"began": [80]}, False),  # somebody has asked just now, for the first time
        ({"began": [70]}, True),
        ({"began": [10, 99]}, True),  # one that came just now changes nothing
        ({"began": [10], "ended": [71]}, False),  # others go on
        ({"began": [10], "ended": [70]}, True),
        ({"began": [10, 20], "waits_for_store": [0, 1]}, False),  # a restart would not help
        ({"began": [10, 20], "waits_for_store": [0]}, True),
    ],
)
def test_a_process_is_stuck_when_requests_wait_and_none_ends(world, stuck):
    """Unless a store holds up all of them; it is 100 now."""
    assert requests(**world).are_stuck(100, STUCK) is stuck
