"""`contracts check`: one line a topic, or the one thing that is wrong."""

import json
import shutil
from dataclasses import replace

import pytest

from contracts import TOPICS, ContractError
from contracts.check import check, count_examples
from contracts.examples import examples
from contracts.topic import DATA


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
        check({"FollowChanged": broken}, no_files, print)


@pytest.mark.parametrize("left_over", ["avro/follow_changed.v2.avsc", "examples/follow_changed.v2.json"])
def test_a_file_that_no_topic_names_is_refused(tmp_path, left_over):
    """A version that somebody forgot to release, or to delete."""
    data = shutil.copytree(DATA, tmp_path / "data")
    (data / left_over).write_text("{}")
    with pytest.raises(ContractError, match=f"{left_over}: no topic's file names it"):
        check(TOPICS, data, print)


def test_a_class_that_lags_behind_its_schema_is_refused(schema, with_versions, no_files):
    """A new field that no class has would be dropped without a word."""
    note = {"name": "note", "type": "string", "default": ""}
    topic = with_versions(schema | {"fields": [*schema["fields"], note]})
    with pytest.raises(ContractError, match=r"FollowChanged: class and v1\.avsc differ by note"):
        check({"FollowChanged": topic}, no_files, print)


@pytest.fixture
def with_examples(tmp_path):
    """FollowChanged with other examples than its own."""

    def build(examples):
        path = tmp_path / "others.json"
        path.write_text(json.dumps(examples))
        topic = TOPICS["FollowChanged"]
        return replace(topic, versions=(replace(topic.latest, examples_file=str(path)),))

    return build


def test_a_version_without_examples_is_refused(with_examples):
    """Its consumers would be tested with nothing."""
    with pytest.raises(ContractError, match="FollowChanged: version 1 has no example"):
        count_examples(with_examples({}))


@pytest.mark.parametrize("wrong", [{"colour": "blue"}, {"follower_id": 5}])
def test_an_example_that_is_not_of_its_schema_is_refused(with_examples, wrong):
    """By its file and its name; a field too many is one, or a misspelt one would go unnoticed."""
    record = next(examples(TOPICS["FollowChanged"])).record
    with pytest.raises(ContractError, match=rf"others\.json: 'odd' is not of its schema: .*{next(iter(wrong))}"):
        count_examples(with_examples({"odd": record | wrong}))
