"""Events to bytes and back: Confluent's wire format, which is a zero, the schema's id in four bytes, and Avro.

Rule: all or nothing. What comes out is an event of the latest version, whole and of the right types; anything else is
a ContractError. fastavro does the work; an event's __dict__ is the record it writes and the record it reads, because
a constructor would cost as much as the Avro.
"""

import json
import struct
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.read import SchemaResolutionError
from fastavro.schema import SchemaParseException
from fastavro.validation import ValidationError, validate

from contracts.errors import ContractError
from contracts.events import Event, Source
from contracts.topic import Topic

_HEAD = struct.Struct(">bI")
_EXACT = {"boolean": bool, "int": int, "long": int}  # fastavro would write any object as a boolean, and 1.5 as a long
_new = object.__new__
_set = object.__setattr__


class Codec:
    """Encodes the latest version of a topic's event, and decodes every version to the latest."""

    def __init__(self, topic: Topic, ids: Mapping[int, int], fetch: Callable[[int], str]) -> None:
        """Take the registry's id of each version, and a way to get the schema of any other id.

        fetch is asked once for an id, by a version newer than this code; it may block, and raises UnknownSchemaError.
        """
        self._topic = topic
        self._fetch = fetch
        self._event = topic.event
        self._schema = _parse(topic.latest.schema)
        self._head = _HEAD.pack(0, ids[topic.latest.number])
        self._exact = [(f["name"], _EXACT[f["type"]]) for f in self._schema["fields"] if str(f["type"]) in _EXACT]
        self._writers = {_HEAD.pack(0, ids[v.number]): _parse(v.schema) for v in topic.versions}

    def encode(self, event: Event) -> bytes:
        """Write the event with the latest schema."""
        if type(event) is not self._event:
            raise ContractError(f"{self._topic.name} takes no {type(event).__name__}")
        record = event.__dict__.copy()
        try:
            source = event.source
            sequence = source.sequence_number
            if type(sequence) is not int or sequence < 0:
                raise ContractError(f"{self._topic.name}.source.sequence_number is {sequence!r}, not a natural number")
            record["source"] = {"shard_id": source.shard_id, "sequence_number": str(sequence)}
            for name, kind in self._exact:
                if type(record[name]) is not kind:
                    raise ContractError(f"{self._topic.name}.{name} is {record[name]!r}, not {kind.__name__}")
            body = BytesIO()
            body.write(self._head)
            schemaless_writer(body, self._schema, record)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise ContractError(f"{self._topic.name} cannot be written: {self._complaint(record, error)}") from error
        return body.getvalue()

    def decode(self, data: bytes | None) -> Event:
        """Read one event, written with any version."""
        if not data:
            raise ContractError(f"{self._topic.name}: no value")
        writer = self._writers.get(data[:5]) or self._writer(data)
        body = BytesIO(data)
        body.seek(5)
        try:
            record: Any = schemaless_reader(body, writer, self._schema)
            place = record["source"]
            digits = place["sequence_number"]
            if not (digits.isdecimal() and digits.isascii()):
                raise ContractError(f"{self._topic.name}.source.sequence_number is {digits!r}, not a natural number")
            place["sequence_number"] = int(digits)
        except (EOFError, LookupError, TypeError, ValueError, OverflowError, SchemaResolutionError) as error:
            raise ContractError(f"{self._topic.name} cannot be read: {type(error).__name__}: {error}") from error
        if body.tell() != len(data):
            raise ContractError(f"{self._topic.name}: {len(data) - body.tell()} bytes too many")
        source = _new(Source)
        _set(source, "__dict__", place)
        record["source"] = source
        event = _new(self._event)
        _set(event, "__dict__", record)
        return event

    def _writer(self, data: bytes) -> Any:
        if len(data) < _HEAD.size:
            raise ContractError(f"{self._topic.name}: {len(data)} bytes are too few for a magic byte and a schema id")
        magic, schema_id = _HEAD.unpack_from(data)
        if magic != 0:
            raise ContractError(f"{self._topic.name}: the magic byte is {magic}, not 0")
        schema = self._fetch(schema_id)
        try:
            writer = _parse(schema)
        except (LookupError, TypeError, ValueError, SchemaParseException) as error:
            raise ContractError(f"{self._topic.name}: schema id {schema_id} is no Avro: {error}") from error
        name = writer["name"] if isinstance(writer, dict) else writer
        if name != self._schema["name"]:
            raise ContractError(f"{self._topic.name}: schema id {schema_id} is of {name}")
        self._writers[data[:5]] = writer
        return writer

    def _complaint(self, record: dict[str, Any], error: Exception) -> str:
        try:
            validate(record, self._schema)
        except ValidationError as invalid:
            return str(invalid)
        return str(error)


def _parse(schema: str) -> Any:
    return parse_schema(json.loads(schema))
