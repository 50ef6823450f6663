"""A version that breaks somebody is refused before it is released, with the field's and the victims' names."""

import pytest

from contracts.compatibility import findings

VICTIMS = "(hits butler, cook)"


def without(schema, name):
    return schema | {"fields": [field for field in schema["fields"] if field["name"] != name]}


def plus(schema, *fields):
    return schema | {"fields": [*schema["fields"], *fields]}


def retyped(schema, name, kind):
    return schema | {"fields": [f | {"type": kind} if f["name"] == name else f for f in schema["fields"]]}


def renamed(schema, name, new):
    return schema | {"fields": [f | {"name": new} if f["name"] == name else f for f in schema["fields"]]}


def mood(*symbols):
    return {"name": "mood", "type": {"type": "enum", "name": "Mood", "symbols": symbols}, "default": symbols[0]}


def nested(*names):
    fields = [{"name": name, "type": "string"} for name in names]
    return {"type": "record", "name": "Source", "fields": fields}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda s: without(s, "visitor_id"), "version 1 cannot read version 2: visitor_id is not written"),
        (lambda s: plus(s, {"name": "why", "type": "string"}), "version 2 cannot read version 1: why is not written"),
        (
            lambda s: renamed(s, "house_id", "target_id"),
            "1 cannot read version 2: house_id is not written",
        ),
        (lambda s: retyped(s, "loud", "string"), 'loud is "string", and was written as "boolean"'),
        (lambda s: retyped(s, "visitor_id", "long"), 'visitor_id is "long", and was written as "string"'),
        (
            lambda s: retyped(s, "visitor_id", ["null", "string"]),
            '1 cannot read version 2: visitor_id is "string"',
        ),
        (lambda s: retyped(s, "occurred_at", "long"), 'version 2 cannot read version 1: occurred_at is "long"'),
        (lambda s: retyped(s, "occurred_at", ["null", "double"]), "version 1 cannot read version 2: occurred_at is"),
        (lambda s: retyped(s, "source", nested("shard_id")), "1 cannot read version 2: source.sequence_number is not"),
        (lambda s: retyped(s, "source", nested("shard_id", "sequence_number", "table")), "source.table is not written"),
        (lambda s: s | {"name": "KnockedTwice"}, "small.KnockedTwice is not small.Knocked"),
    ],
)
def test_a_breaking_change_names_the_field_and_whom_it_hits(schema, with_versions, change, named):
    """Whichever of the two directions it breaks."""
    found = findings(with_versions(schema, change(schema)))
    assert [each for each in found if named in each and each.endswith(VICTIMS)]


def test_a_new_enum_symbol_names_its_field(schema, with_versions):
    """Without an enum default the old reader cannot take it."""
    (found,) = findings(with_versions(plus(schema, mood("glad")), plus(schema, mood("glad", "sad"))))
    assert found.startswith("Knocked: version 1 cannot read version 2: mood is ")
    assert found.endswith(VICTIMS)


def test_what_both_sides_can_do_without_may_come_and_go(schema, with_versions):
    """A field with a default is added, and taken away again."""
    assert (
        findings(with_versions(schema, plus(schema, {"name": "note", "type": "string", "default": ""}), schema)) == []
    )


def test_compatibility_is_with_every_version_and_not_only_the_last(schema, with_versions):
    """A field that comes back as another type gets past each neighbour, and not past the version before."""
    first = plus(schema, {"name": "note", "type": "string", "default": ""})
    third = plus(schema, {"name": "note", "type": "long", "default": 0})
    assert findings(with_versions(first, schema)) == findings(with_versions(schema, third)) == []
    found = findings(with_versions(first, schema, third))
    assert [each for each in found if "version 1 cannot read version 3: note is" in each]


def test_our_own_versions_agree(topic):
    """Full transitive, for every topic we have."""
    assert findings(topic) == []
