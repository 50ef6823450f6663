"""What is wrong with the schemas of a topic, although some parser takes them and they read each other. Pure.

Rule: a schema must do in every language, and each version must be one to a registry. Java, up to Avro 1.11, takes a
default only of the first type of a union; a registry takes two schemas for one if only docs and aliases differ.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import avro.schema
from avro.errors import AvroException
from fastavro import parse_schema
from fastavro.schema import SchemaParseException, UnknownType

from contracts.topic import Topic, Version

_SILENT = {"doc", "aliases"}  # what a registry does not look at
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_TYPE: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "string": (str,),
    "bytes": (str,),
    "fixed": (str,),
    "enum": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
}


def findings(topic: Topic) -> Iterator[str]:
    """Return a sentence for each fault, with the field's name and what to do."""
    seen: dict[str, Version] = {}
    for version in topic.versions:
        where = f"{topic.name}: {version.schema_file}"
        try:
            faults = [*_fields(avro.schema.parse(version.schema), "")]
            yield from (f"{where}: {fault}" for fault in faults)
            if faults:
                continue
            twin = seen.setdefault(_essence(version.schema), version)
        except (AvroException, SchemaParseException, UnknownType, LookupError, TypeError, ValueError) as error:
            yield f"{where} is no Avro schema: {type(error).__name__}: {error}"
            continue
        if twin is not version:
            yield (
                f"{where} differs from {twin.schema_file} in nothing but docs and aliases, "
                "and a registry takes the two for one: change a field, or take the version away"
            )


def _fields(schema: Any, path: str) -> Iterator[str]:
    """Look at each field of each record, however deep."""
    for kind in schema.schemas if schema.type == "union" else [schema]:
        for field in kind.fields if kind.type == "record" else ():
            name = f"{path}{field.name}"
            if not _NAME.fullmatch(field.name):
                yield f"{name} is no name in Avro: letters, digits and _ are"
            if field.has_default and not _fits(field.default, field.type):
                yield f"{name} has the default {json.dumps(field.default)}, {_mistake(field)}"
            yield from _fields(field.type, f"{name}.")
        if kind.type in ("array", "map"):
            yield from _fields(kind.items if kind.type == "array" else kind.values, path)


def _mistake(field: Any) -> str:
    if field.type.type != "union":
        return f"which is no {field.type.type}: correct one of them"
    first = field.type.schemas[0].type
    return f"and the first type of its union is {first}, so Java up to Avro 1.11 refuses it: put its type first"


def _fits(default: Any, schema: Any) -> bool:
    """Tell whether Java takes a default for a value of this type."""
    kind = schema.schemas[0] if schema.type == "union" else schema
    if not isinstance(default, _OF_TYPE[kind.type]) or (isinstance(default, bool) and kind.type != "boolean"):
        return False
    inside = _INSIDE.get(kind.type)
    return inside is None or bool(inside(default, kind))


def _record_fits(default: Any, schema: Any) -> bool:
    return all(
        _fits(default[field.name], field.type) if field.name in default else field.has_default
        for field in schema.fields
    )


_INSIDE: dict[str, Callable[[Any, Any], bool]] = {
    "enum": lambda default, schema: default in schema.symbols,
    "fixed": lambda default, schema: len(default) == schema.size,
    "array": lambda default, schema: all(_fits(each, schema.items) for each in default),
    "map": lambda default, schema: all(_fits(each, schema.values) for each in default.values()),
    "record": _record_fits,
}


def _essence(schema: str) -> str:
    """Return what a registry looks at: all names whole, each type in its shortest form, no docs and no aliases."""
    return json.dumps(_without(parse_schema(json.loads(schema))), sort_keys=True)


def _without(node: Any) -> Any:
    if isinstance(node, list):
        return [_without(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _without(value) for key, value in node.items() if key not in _SILENT and not key.startswith("__")}
    return kept["type"] if kept.keys() == {"type"} else kept
