"""What `make charts` writes into the charts."""

import sys

import pytest

from murmuration_testkit import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "deploy"))

import charts

FOLLOWS = next(each for each in charts.CHARTS if each.folder == "follow-service/chart")


@pytest.mark.parametrize(
    ("file", "text"), [*charts.texts()], ids=lambda it: str(it)[-60:] if hasattr(it, "parts") else ""
)
def test_what_charts_share_is_up_to_date(file, text):
    """After a change of a settings class or of shared values, `make charts` was run."""
    assert file.read_text() == text, f"{file.relative_to(REPOSITORY)} is not up to date: run `make charts`"


def test_every_chart_is_listed():
    """A chart that deploy/charts.py does not know would have no schema."""
    found = {
        str(it.parent.relative_to(REPOSITORY))
        for pattern in ("*/chart", "deploy/*/chart", "deploy/*-chart")
        for it in REPOSITORY.glob(f"{pattern}/Chart.yaml")
    }
    assert found == {each.folder for each in charts.CHARTS}


def test_a_setting_has_the_type_that_the_service_reads():
    """What pydantic would refuse at the start, Helm refuses before."""
    settings = charts.schema(FOLLOWS)["properties"]["settings"]
    assert settings["properties"]["FOLLOWING_CAP"] == {"type": "integer", "minimum": 0}
    assert not settings["additionalProperties"]
    assert "PORT" not in settings["properties"]


def test_no_object_takes_what_it_does_not_name():
    """Every object of the schema is closed, or free with a type for its values; the two others are Helm's own."""
    free = {path for path, told in _objects(charts.schema(FOLLOWS)) if "additionalProperties" not in told}
    assert free == {"/properties/global", "/properties/murmuration-library"}


def _objects(told, path=""):
    if isinstance(told, dict):
        if told.get("type") == "object":
            yield path, told
        for name, each in told.items():
            yield from _objects(each, f"{path}/{name}")
