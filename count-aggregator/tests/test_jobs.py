"""What the exit code of a recount says to whoever ran it, a CronJob for one."""

import argparse

import pytest

from count_aggregator import jobs
from count_aggregator.reconcile import Summary

BUSY = {"busy": {"somebody": (0, 0)}}
IN_DOUBT = {**BUSY, "busy_drifted": ["somebody"]}


@pytest.mark.parametrize(
    ("words", "found", "code"),
    [
        ([], {}, 0),
        ([], BUSY, 0),
        ([], IN_DOUBT, 1),
        (["--top", "5"], BUSY, 0),
        (["--all"], BUSY, 1),
        (["--user", "somebody"], BUSY, 1),
        (["--user", "somebody"], {}, 0),
    ],
)
def test_an_hourly_run_does_not_fail_over_accounts_that_are_always_busy(words, found, code):
    """Whoever asked for certain accounts, or all of them, is told that some were not judged."""
    parser = argparse.ArgumentParser()
    jobs.add_to(parser.add_subparsers(dest="command"))
    asked = parser.parse_args(["reconcile", *words])
    assert jobs.exit_code(asked, Summary(**found)) == code
