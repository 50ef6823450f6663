"""The plot is SVG that shows every load, both bounds and the knee."""

import dataclasses
from xml.etree import ElementTree as ET

import pytest

from murmuration_testkit.knee.plot import HEIGHT, WIDTH, plot
from murmuration_testkit.knee.search import Step

FIRST = Step(100, 100, 1, 100, 5, 20, 30, 0.3, 0.2, 0, 1, {}, {})
SECOND = dataclasses.replace(FIRST, load=150, read_p99_ms=90)
THIRD = dataclasses.replace(FIRST, load=225, read_p99_ms=1234, tweet_p99_s=8.5)
TRIED = [FIRST, THIRD, SECOND, dataclasses.replace(THIRD, read_p99_ms=250)]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn():
    return ET.fromstring(plot(TRIED, "2 cores"))  # noqa: S314 - our own


def texts(drawn):
    return [each.text for each in drawn.iter(f"{SVG}text")]


def lines(drawn):
    return [
        [tuple(map(float, place.split(","))) for place in each.get("points").split()]
        for each in drawn.iter(f"{SVG}polyline")
    ]


def test_every_load_and_both_bounds_are_named(drawn):
    """Loads in each panel once, also one that was tried twice."""
    for load in ("100", "150", "225"):
        assert texts(drawn).count(load) == 2 + (load == "100")  # 100 is half of a bound, too
    assert {"200", "2", "reads, ms", "freshness, s", "over reads a second; 2 cores"} <= {*texts(drawn)}


def test_the_knee_is_the_highest_good_load(drawn):
    marks = [each for each in drawn.iter(f"{SVG}line") if each.get("x1") == each.get("x2")]
    assert {float(mark.get("x1")) for mark in marks} == {lines(drawn)[0][1][0]}
    assert texts(drawn).count("knee") == 2


def test_lines_go_from_left_to_right_and_higher_values_stand_higher(drawn):
    """Two panels with two lines each; of a load that was tried twice, the last try counts."""
    assert len(lines(drawn)) == 4
    reads = lines(drawn)[0]
    assert [x for x, _ in reads] == sorted({x for x, _ in reads})
    assert reads[0][1] > reads[1][1] > reads[2][1]


def test_what_is_too_high_to_show_stands_at_the_edge_with_its_value(drawn):
    """And nothing is drawn outside."""
    assert "8.5" in texts(drawn)
    assert "1,234" not in texts(drawn)
    for x, y in (place for line in lines(drawn) for place in line):
        assert 0 < x < WIDTH
        assert 0 < y < 2 * HEIGHT


def test_no_number_lies_on_another():
    """Loads that are close together are drawn, and some are not named."""
    steps = [dataclasses.replace(FIRST, load=load) for load in (100, 101, 5_000, 5_100)]
    found = ET.fromstring(plot(steps, "2 cores"))  # noqa: S314 - our own
    assert [each for each in texts(found) if each in ("101", "5000", "5100")] == ["5000"] * 2
    assert [len(line) for line in lines(found)] == [4] * 4


def test_without_a_good_step_there_is_no_knee():
    assert "knee" not in plot([THIRD], "2 cores")
