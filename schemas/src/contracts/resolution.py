"""How what one version wrote is read as another: as Avro resolves schemas. Pure.

Rule: fastavro resolves, unless the two differ in nothing but whole fields. Then a record is read as it was written,
which is twice as fast, and fields that are new are added with their defaults, fields that are gone are taken away.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

_PLAIN = (bool, int, str, type(None))  # defaults that are the same as JSON, as Avro and as Python
_NAMES = ("boolean", "enum", "int", "long", "null", "string")


class Resolution(NamedTuple):
    """What fastavro is told, and what is done to the record afterwards."""

    writer: Any
    reader: Any | None
    added: Mapping[str, Any]
    dropped: tuple[str, ...]


def resolution(writer: Mapping[str, Any], reader: Mapping[str, Any]) -> Resolution:
    """Say how a record of the writer's parsed schema becomes one of the reader's."""
    written, read = ({field["name"]: field for field in schema["fields"]} for schema in (writer, reader))
    new = [field for name, field in read.items() if name not in written]
    same = all(_shape(written[name]["type"]) == _shape(read[name]["type"]) for name in read.keys() & written.keys())
    if not same or not all(_is_plain(field) for field in new):
        return Resolution(writer, reader, {}, ())
    added = {field["name"]: field["default"] for field in new}
    return Resolution(writer, None, added, tuple(name for name in written if name not in read))


def _is_plain(field: Mapping[str, Any]) -> bool:
    """Whether a field has a default that a record may be given as it is."""
    kind = field["type"][0] if isinstance(field["type"], list) else field["type"]
    name = kind["type"] if isinstance(kind, dict) else kind
    return name in _NAMES and "default" in field and isinstance(field["default"], _PLAIN)


def _shape(kind: Any) -> Any:
    """Leave out of a type what says nothing of bytes or values."""
    if isinstance(kind, dict):
        return {name: _shape(value) for name, value in kind.items() if name != "doc"}
    return [_shape(each) for each in kind] if isinstance(kind, list) else kind
