"""Reading what another version wrote: as fastavro resolves it, only faster."""

import json
from io import BytesIO

import pytest
from fastavro import parse_schema, schemaless_reader, schemaless_writer
from hypothesis import given
from hypothesis import strategies as st

from contracts.resolution import resolution

MOOD = {"type": "enum", "name": "Mood", "symbols": ["glad", "sad"]}
PLACE = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "long"}]}
POOL = {
    "who": ("string", "", st.text()),
    "loud": ("boolean", False, st.booleans()),
    "at": (["null", "long"], None, st.none() | st.integers(-(2**63), 2**63 - 1)),
    "note": (["string", "null"], "", st.none() | st.text()),
    "mood": (MOOD, "glad", st.sampled_from(MOOD["symbols"])),
    "seal": ("bytes", "\u00ff", st.binary()),
    "share": ("double", 1, st.floats(allow_nan=False)),
    "words": ({"type": "array", "items": "string"}, [], st.lists(st.text())),
    "place": (PLACE, {"x": 1}, st.builds(lambda x: {"x": x}, st.integers(-(2**63), 2**63 - 1))),
    "count": ("long", 0, st.integers(-(2**31), 2**31 - 1)),
}
PROMOTED = {"count": "int"}  # what the writer may have instead
PLAIN = {"who", "loud", "at", "note", "mood", "count"}


def schema(names, promoted=(), doc=""):
    fields = [
        {
            "name": name,
            "type": PROMOTED[name] if name in promoted else POOL[name][0],
            "default": POOL[name][1],
            "doc": doc,
        }
        for name in names
    ]
    return parse_schema(json.loads(json.dumps({"type": "record", "name": "Any", "fields": fields})))


some = st.lists(st.sampled_from(sorted(POOL)), unique=True)


@given(some, some, st.sets(st.sampled_from(sorted(PROMOTED))), st.data())
def test_a_record_of_any_version_is_read_as_fastavro_resolves_it(written, read, promoted, data):
    """Fields come and go in any order, with any default, and some change their type."""
    writer, reader = schema(written, promoted), schema(read, doc="Another text.")
    body = BytesIO()
    schemaless_writer(body, writer, {name: data.draw(POOL[name][2]) for name in written})
    expected = schemaless_reader(BytesIO(body.getvalue()), writer, reader)
    told, as_reader, added, dropped = resolution(writer, reader)
    found = schemaless_reader(BytesIO(body.getvalue()), told, as_reader) | added
    assert {name: value for name, value in found.items() if name not in dropped} == expected
    if not promoted & {*written} & {*read} and {*read} - {*written} <= PLAIN:
        assert as_reader is None  # it was worth it


@pytest.mark.parametrize(
    "kind", ["long", ["long", "null"], {"type": "enum", "name": "Mood", "symbols": ["sad", "glad"]}]
)
def test_whatever_has_changed_its_type_is_left_to_fastavro(kind):
    """By its symbols or the order of a union, too: those decide what bytes mean."""
    before = {
        "type": "record",
        "name": "Any",
        "fields": [{"name": "at", "type": ["null", "long"]}, {"name": "mood", "type": MOOD}],
    }
    name = "mood" if isinstance(kind, dict) else "at"
    fields = [field | ({"type": kind} if field["name"] == name else {}) for field in before["fields"]]
    assert resolution(before, before).reader is None
    assert resolution(before, before | {"fields": fields}).reader is not None
