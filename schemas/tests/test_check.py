"""`contracts check`: one line a topic, or the one thing that is wrong."""

import json
import shutil

import pytest

from contracts import TOPICS, ContractError
from contracts.check import check, count_examples
from contracts.examples import examples
from contracts.topic import DATA

from .small_contracts import KNOCKED, POSTED, REMOVED, SMALL


def test_the_contracts_hold():
    """All of it, and a line for each topic."""
    lines = []
    check(TOPICS, DATA, lines.append)
    assert [line.split(":")[0] for line in lines] == sorted(TOPICS)


@pytest.fixture
def no_files(tmp_path):
    """A data folder in which nothing is left over."""
    (tmp_path / "avro").mkdir()
    (tmp_path / "examples").mkdir()
    return tmp_path


def test_versions_that_break_each_other_are_refused(schema, with_versions, no_files):
    """The offline judge is asked about every topic."""
    broken = with_versions(schema, schema | {"fields": schema["fields"][1:]})
    with pytest.raises(ContractError, match="event_id is not written"):
        check({"Knocked": broken}, no_files, print)


@pytest.mark.parametrize("left_over", ["avro/knocked.v2.avsc", "examples/knocked.v2.json"])
def test_a_file_that_no_topic_names_is_refused(tmp_path, left_over):
    """A version that somebody forgot to release, or to delete."""
    data = shutil.copytree(SMALL, tmp_path / "data")
    topics = {topic.name: topic for topic in (KNOCKED, POSTED, REMOVED)}
    check(topics, data, print)
    (data / left_over).write_text("{}")
    with pytest.raises(ContractError, match=f"{left_over}: no topic's file names it"):
        check(topics, data, print)


def test_a_class_that_lags_behind_its_schema_is_refused(schema, with_versions, no_files):
    """A new field that no class has would be dropped without a word."""
    note = {"name": "note", "type": "string", "default": ""}
    topic = with_versions(schema | {"fields": [*schema["fields"], note]})
    with pytest.raises(ContractError, match=r"Knocked: class and v1\.avsc differ by note"):
        check({"Knocked": topic}, no_files, print)


@pytest.fixture
def count_of(tmp_path):
    """Count examples of Knocked, others than its own."""

    def count(examples):
        (tmp_path / "examples").mkdir(exist_ok=True)
        (tmp_path / "examples" / KNOCKED.latest.examples_file).write_text(json.dumps(examples))
        return count_examples(KNOCKED, tmp_path)

    return count


def test_a_version_without_examples_is_refused(count_of):
    """Its consumers would be tested with nothing."""
    with pytest.raises(ContractError, match="Knocked: version 1 has no example"):
        count_of({})


@pytest.mark.parametrize("wrong", [{"colour": "blue"}, {"visitor_id": 5}])
def test_an_example_that_is_not_of_its_schema_is_refused(count_of, wrong):
    """By its file and its name; a field too many is one, or a misspelt one would go unnoticed."""
    record = examples(KNOCKED, SMALL)[0].record
    assert count_of({"as it should be": record}) == 1
    with pytest.raises(ContractError, match=rf"knocked.v1\.json: 'odd' is not of its schema: .*{next(iter(wrong))}"):
        count_of({"odd": record | wrong})
