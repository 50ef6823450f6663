"""What operators are told of the last runs."""

from dataclasses import replace

import pytest

from murmuration_suggested.runs import Run
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_suggestions.check import told
from murmuration_testkit.redis_nodes import redis_node

from .starting import ENVIRONMENT, job

HOUR_MS = 3_600_000
RUN = Run("20261119T020000Z", 1_000 * HOUR_MS, 7)
REFUSED = replace(RUN, version="20261120T020000Z", refused_because=("3 people, and 7 in the last run",))


@pytest.mark.parametrize(("hours", "good"), [(30, True), (31, False)])
def test_a_run_is_late_when_it_is_older_than_asked_for(hours, good):
    """And is told with its age."""
    lines, found = told(RUN, None, (1_000 + hours) * HOUR_MS, 30)
    assert found is good
    assert f"begun {hours}.0 hours ago" in lines[0]


def test_no_run_is_late_only_if_one_is_asked_for():
    """Right after an installation there is none."""
    assert [told(None, None, 0, late)[1] for late in (None, 30)] == [True, False]


def test_a_refusal_is_told_with_its_reason():
    """Beside the run that still counts."""
    lines, _ = told(RUN, REFUSED, 1_001 * HOUR_MS, None)
    assert lines[1] == "run 20261120T020000Z was refused: 3 people, and 7 in the last run"


def test_a_redis_that_is_away_is_no_good_answer():
    """And is named, without a traceback."""
    done = job("check", **ENVIRONMENT)
    assert done.returncode == 1
    assert "Redis did not answer" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.stack(shared=False)
def test_it_asks_redis_alone():
    """No Spark, no tables."""
    with redis_node() as node:
        SuggestedWriter(connect(node.url)).refuse(REFUSED)
        done = job("check", **ENVIRONMENT | {"SUGGESTIONS_REDIS_URL": node.url})
    assert done.returncode == 0
    assert "was refused" in done.stdout
