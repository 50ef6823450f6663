"""A schema that only some languages take, or that a registry takes for another, is a finding with the field's name."""

import json
import os
import urllib.request
import uuid

import pytest

from contracts.registry import Registry
from contracts.schema_faults import findings

NOTE = {"name": "note", "type": ["null", "string"], "default": None, "doc": "Whatever it is."}


def with_type(kind, default):
    """One more field, of this type and with this default."""
    return NOTE | {"type": kind, "default": default}


def record(*fields):
    return {"type": "record", "name": "Inner", "fields": [*fields]}


ENUM = {"type": "enum", "name": "Mood", "symbols": ["glad"]}
FIXED = {"type": "fixed", "name": "Two", "size": 2}
LIST = {"type": "array", "items": "long"}
MAP = {"type": "map", "values": "long"}
MOMENT = {"type": "long", "logicalType": "timestamp-millis"}


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("null", [None], ["", False]),
        ("boolean", [True], [1, None]),
        ("long", [1], [True, 1.5, "1"]),
        ("double", [1, 1.5], [True, "1.5"]),
        ("string", [""], [None, 1]),
        ("bytes", ["\u00ff"], [1]),
        (["null", "string"], [None], ["x"]),
        (["string", "null"], ["x"], [None]),
        (ENUM, ["glad"], ["sad", 1]),
        (FIXED, ["ab"], ["abc"]),
        (LIST, [[], [1]], [["1"], {}]),
        (MAP, [{}, {"a": 1}], [{"a": "1"}, []]),
        (MOMENT, [1], ["today"]),
        (record({"name": "a", "type": "long"}), [{"a": 1}], [{}, {"a": "1"}]),
        (record({"name": "a", "type": "long", "default": 1}), [{}], [[]]),
    ],
    ids=str,
)
def test_a_default_is_of_its_type_and_of_the_first_in_a_union(schema, with_versions, kind, good, bad):
    """As the oldest Java in use wants it: it takes no schema with another."""

    def found(default):
        return [*findings(with_versions(schema | {"fields": [*schema["fields"], with_type(kind, default)]}))]

    assert [default for default in good if found(default)] == []
    for default in bad:
        (fault,) = found(default)
        assert fault.startswith(f"Knocked: v1.avsc: note has the default {json.dumps(default)}, ")
        assert fault.endswith((": correct one of them", ": put its type first"))


@pytest.mark.parametrize(
    "place",
    [
        lambda inner: inner,
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"type": "map", "values": inner},
        lambda inner: ["null", inner],
    ],
    ids=["record", "array", "map", "union"],
)
def test_a_default_deep_inside_is_looked_at(schema, with_versions, place):
    """By the path to it."""
    inner = record({"name": "mood", "type": ["string", "null"], "default": None})
    field = {"name": "inner", "type": place(inner)}
    (found,) = findings(with_versions(schema | {"fields": [*schema["fields"], field]}))
    assert found.startswith(
        "Knocked: v1.avsc: inner.mood has the default null, and the first type of its union is string"
    )


@pytest.mark.parametrize(
    "text", ["", "5", '"x"', '{"type": "record"}', '{"type": "record", "name": "A", "fields": [5]}']
)
def test_what_is_no_schema_is_named(with_versions, text):
    """And the others are looked at all the same."""
    topic = with_versions({}, {})
    object.__setattr__(topic.versions[0], "schema", text)
    found = [*findings(topic)]
    assert [each.partition(": ")[2].partition(" is ")[0] for each in found] == ["v1.avsc", "v2.avsc"]


def test_a_field_has_a_name_that_avro_knows(schema, with_versions):
    """Python's parsers take any."""
    field = {"name": "how loud", "type": "long"}
    found = [*findings(with_versions(schema | {"fields": [*schema["fields"], field]}))]
    assert found == ["Knocked: v1.avsc: how loud is no name in Avro: letters, digits and _ are"]


TWINS = {
    "doc": lambda s: s | {"doc": "Another."},
    "doc of a field": lambda s: s | {"fields": [s["fields"][0] | {"doc": "Another."}, *s["fields"][1:]]},
    "alias": lambda s: s | {"fields": [s["fields"][0] | {"aliases": ["e"]}, *s["fields"][1:]]},
    "long form of a type": lambda s: s | {"fields": [s["fields"][0] | {"type": {"type": "string"}}, *s["fields"][1:]]},
    "whole name": lambda s: {"type": "record", "name": "small.Knocked", "fields": s["fields"]},
}
OTHERS = {
    "a field": lambda s: s | {"fields": [*s["fields"], NOTE]},
    "a default": lambda s: s | {"fields": [s["fields"][0] | {"default": ""}, *s["fields"][1:]]},
    "order": lambda s: s | {"fields": s["fields"][::-1]},
    "property": lambda s: s | {"fields": [s["fields"][0] | {"personal": True}, *s["fields"][1:]]},
}


@pytest.mark.parametrize("change", TWINS.values(), ids=TWINS)
def test_a_version_that_a_registry_would_not_tell_from_another_is_refused(schema, with_versions, change):
    """Also if another version lies between them."""
    between = schema | {"fields": [*schema["fields"], NOTE]}
    (found,) = findings(with_versions(schema, between, change(schema)))
    assert found.startswith("Knocked: v3.avsc differs from v1.avsc in nothing but docs and aliases, ")


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_a_version_that_says_something_else_is_none_of_these(schema, with_versions, change):
    assert [*findings(with_versions(schema, change(schema)))] == []


@pytest.mark.stack
@pytest.mark.parametrize(
    ("change", "versions"), [*((it, [1]) for it in TWINS.values()), *((it, [1, 2]) for it in OTHERS.values())]
)
def test_the_registry_tells_apart_what_we_do(schema, change, versions):
    """Whatever it takes for one would have no number of its own, and `apply` would look for it in vain."""
    registry, subject = Registry(os.environ["SCHEMA_REGISTRY_URL"]), f"twins-{uuid.uuid4()}"
    registry.register(subject, json.dumps(schema))
    registry.hold_to(subject, "NONE")
    registry.register(subject, json.dumps(change(schema)))
    url = f"{os.environ['SCHEMA_REGISTRY_URL']}/subjects/{subject}/versions"
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310
        assert json.load(answer) == versions
