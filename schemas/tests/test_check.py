"""`contracts check`: one line a topic, or the one thing that is wrong."""

import json
import shutil
from dataclasses import replace

import pytest

from contracts import TOPICS, ContractError
from contracts.check import check
from contracts.examples import examples
from contracts.topic import DATA

from .small_contracts import KNOCKED, POSTED, REMOVED, RENTED, SMALL


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


def findings(topic, data):
    """Return what is said of Knocked, a line for each fault."""
    with pytest.raises(ContractError) as refused:
        check({"Knocked": topic}, data, print)
    return str(refused.value).splitlines()


def test_every_fault_is_named_at_once(schema, with_versions, no_files):
    """Whoever mends one does not have to run it again to hear of the next."""
    (no_files / "avro/old.avsc").touch()
    *others, last = schema["fields"]
    broken = with_versions(schema, schema | {"fields": [*others[1:], last | {"default": 7}]})
    assert findings(broken, no_files) == [
        "avro/old.avsc: no topic's file names it: name it there, or delete it",
        (
            "Knocked: v2.avsc: occurred_at has the default 7, and the first type of its union is null, so Java "
            "up to Avro 1.11 refuses it: put its type first"
        ),
    ]
    broken = with_versions(schema, schema | {"fields": others[1:]})
    found = findings(broken, no_files)
    assert (
        "Knocked: version 1 cannot read version 2: event_id is not written, and has no default (hits butler, cook)"
        in found
    )
    assert [each for each in found if each.startswith("Knocked.event_id is in events.py, and not in v2.avsc: ")]
    assert [each for each in found if each.startswith("Knocked.occurred_at is in events.py, and not in v2.avsc: ")]


@pytest.mark.parametrize("left_over", ["avro/knocked.v2.avsc", "examples/knocked.v2.json"])
def test_a_file_that_no_topic_names_is_refused(tmp_path, left_over):
    """A version that somebody forgot to release, or to delete."""
    data = shutil.copytree(SMALL, tmp_path / "data")
    topics = {topic.name: topic for topic in (KNOCKED, POSTED, REMOVED, RENTED)}
    check(topics, data, print)
    (data / left_over).write_text("{}")
    with pytest.raises(ContractError, match=f"^{left_over}: no topic's file names it"):
        check(topics, data, print)


TABLED = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": each, "type": "string"} for each in ("shard_id", "sequence_number", "table")],
}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda fields: [*fields, NOTE], "Knocked.note is in v1.avsc, and not in events.py: add it to Knocked"),
        (
            lambda fields: fields[:-1],
            (
                "Knocked.occurred_at is in events.py, and not in v1.avsc: add it to the next version of the schema, "
                "with a default, or take it out of Knocked"
            ),
        ),
        (
            lambda fields: [*fields[:-1], {"name": "occurred_at", "type": ["null", "long"]}],
            "Knocked.occurred_at: no default in v1.avsc, the default null in events.py: the class follows the schema",
        ),
        (
            lambda fields: [*fields[:-2], fields[-2] | {"default": True}, fields[-1]],
            "Knocked.loud: the default true in v1.avsc, no default in events.py: the class follows the schema",
        ),
        (
            lambda fields: [*fields[:1], fields[1] | {"type": TABLED}, *fields[2:]],
            "Knocked.source.table is in v1.avsc, and not in events.py: add it to Source",
        ),
    ],
)
def test_a_class_that_is_not_its_schema_is_refused(schema, with_versions, tmp_path, change, said):
    """By the field, and what to do: it would be dropped without a word, or fail wherever an event is made."""
    topic = with_versions(schema | {"fields": change(schema["fields"])})
    (tmp_path / "avro").mkdir()
    (tmp_path / "examples").mkdir()
    found = findings(topic, tmp_path)
    assert said in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"neither": ("event_id", "source")}, "Knocked.loud stands 0 times under `personal` in the topic's file: "),
        (
            {"neither": ("event_id", "source", "loud", "visitor_id")},
            "Knocked.visitor_id stands 2 times under `personal`",
        ),
        (
            {"neither": ("event_id", "source", "loud", "mood")},
            "Knocked.mood is in no version of the schema: take it out",
        ),
    ],
)
def test_each_field_is_said_to_tell_of_people_or_not(change, said):
    """So a new field is thought about, and whoever looks for personal data finds all of it."""
    told = replace(KNOCKED.personal, what=("occurred_at",), neither=("event_id", "source", "loud"))
    others = {topic.name: topic for topic in (POSTED, REMOVED, RENTED)}
    check({"Knocked": replace(KNOCKED, personal=told)} | others, SMALL, print)
    with pytest.raises(ContractError) as refused:
        check({"Knocked": replace(KNOCKED, personal=replace(told, **change))} | others, SMALL, print)
    assert said in str(refused.value)


@pytest.fixture
def found_with(tmp_path):
    """Check Knocked with examples, others than its own."""

    def found(examples):
        data = shutil.copytree(SMALL, tmp_path / "data", dirs_exist_ok=True)
        (data / "examples" / KNOCKED.latest.examples_file).write_text(json.dumps(examples))
        return findings_of_all(data)

    return found


def findings_of_all(data):
    try:
        check({topic.name: topic for topic in (KNOCKED, POSTED, REMOVED, RENTED)}, data, print)
    except ContractError as error:
        return str(error).splitlines()
    return []


def test_a_version_without_examples_is_refused(found_with):
    """Its consumers would be tested with nothing."""
    assert found_with({}) == ["Knocked: version 1 has no example: write one into knocked.v1.json"]


@pytest.mark.parametrize("wrong", [{"colour": "blue"}, {"visitor_id": 5}])
def test_an_example_that_is_not_of_its_schema_is_refused(found_with, wrong):
    """By its file and its name; a field too many is one, or a misspelt one would go unnoticed."""
    record = examples(KNOCKED, SMALL)[0].record
    assert found_with({"as it should be": record}) == []
    (found,) = found_with({"odd": record | wrong})
    assert found.startswith("Knocked: knocked.v1.json: 'odd' is not of its schema: ")
    assert next(iter(wrong)) in found
