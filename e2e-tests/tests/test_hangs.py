"""A store hangs for some seconds while people ask; `make drill ONLY=hangs` has a minute of each."""

import pytest

from murmuration_testkit.hangs import BY_TABLES, hang
from murmuration_testkit.processes import all_ready


@pytest.mark.parametrize(("store", "may_fail"), [("redis", ()), ("dynamodb", BY_TABLES)])
def test_whatever_needs_no_store_that_hangs_is_answered_and_the_rest_is_refused_in_time(store, may_fail):
    """Nobody waits longer than a request may, no process is started again, and soon after all is as before."""
    try:
        outcome = hang(store, may_fail, seconds=4)
    finally:
        all_ready()
    assert outcome.differences == [], outcome.figures
