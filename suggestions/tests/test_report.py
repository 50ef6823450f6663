"""What is told of a run, and when it looks wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_suggestions.report import Counted, Report, Step, faults

GOOD = Counted(people=100, edges=1_000, lists=90, suggestions=900, digest="f00")


def test_a_run_like_the_last_one_looks_right():
    """Or the first of all."""
    assert faults(GOOD, GOOD) == faults(GOOD, None) == []


@pytest.mark.parametrize("name", ["people", "edges", "lists", "suggestions"])
def test_less_than_half_of_anything_looks_wrong(name):
    """And is named with both figures; just half passes."""
    half = getattr(GOOD, name) // 2
    assert faults(Counted(**{**vars(GOOD), name: half}), GOOD) == []
    (fault,) = faults(Counted(**{**vars(GOOD), name: half - 1}), GOOD)
    assert fault == f"{half - 1:,} {name}, and {2 * half:,} in the last run"


def test_nobody_suggested_to_anybody_looks_wrong():
    """Even if there is no run to compare with."""
    assert faults(Counted(0, 0, 0, 0, "0"), None) == ["nobody is suggested anybody"]


@given(st.integers(0), st.lists(st.text()), st.booleans(), st.dictionaries(st.text(), st.floats(0, 1e6)))
def test_a_report_comes_back_as_it_was_written(peak, told, accepted, seconds):
    """Through JSON."""
    steps = {name: Step(each, 7, 3, each, each / 2) for name, each in seconds.items()}
    report = Report("20261119T010000Z", 1, GOOD, told, accepted, told, steps, peak)
    assert Report.of(json.loads(json.dumps(report.to_json()))) == report


def test_a_report_shows_what_skews():
    """How much longer the longest task of a step took than the median one."""
    lines = Report("v", 1, GOOD, [], True, ["too few"], {"rank": Step(9.0, 2_000_000, 4, 6.0, 2.0)}, 10**9).lines()
    assert "people 100, edges 1,000" in lines
    assert any("rank" in line and "2.0 MB" in line and line.endswith("= 3.0") for line in lines)
    assert lines[-1] == "looks wrong: too few"
