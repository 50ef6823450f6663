"""Events to bytes and back: Confluent's wire format, which is a zero, the schema's id in four bytes, and Avro.

Rule: all or nothing. What comes out is an event of the latest version, whole and of the right types; anything else is
a ContractError.

fastavro does the work, and the rest is kept off its path. An event's __dict__ is the record that is written and read,
since a constructor costs half as much as the Avro. Avro writes a nested record as its fields in a row, so `source` is
written and read as if its fields were the event's own.
"""

import json
import struct
from collections.abc import Callable, Mapping
from io import BytesIO
from itertools import chain
from operator import itemgetter
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.read import SchemaResolutionError
from fastavro.schema import SchemaParseException

from contracts.errors import ContractError
from contracts.events import Event, Source
from contracts.ids import is_tweet_id
from contracts.resolution import Resolution, resolution
from contracts.topic import Topic

_HEAD = struct.Struct(">bI")
_EXACT = {"boolean": bool, "long": int}  # fastavro writes any object as a boolean, and 1.5 as a long
_new = object.__new__
_set = object.__setattr__


class Codec:
    """Encodes the latest version of a topic's event, and decodes every version to the latest."""

    def __init__(self, topic: Topic, ids: Mapping[int, int], fetch: Callable[[int], str]) -> None:
        """Take the registry's id of each version, and a way to get the schema of any other id.

        fetch is asked once for an id, of a version newer than this code; it may block, and raises UnknownSchemaError.
        """
        self._name = topic.name
        self._fetch = fetch
        self._event = topic.event
        self._schema = _flat(topic.latest.schema)
        self._exact = [(f["name"], _EXACT[f["type"]]) for f in self._schema["fields"] if str(f["type"]) in _EXACT]
        self._names = itemgetter(*(f["name"] for f in self._schema["fields"] if f["name"].endswith("_id")))
        self._has_tweet_id = "tweet_id" in topic.event.__dataclass_fields__
        self._head = _HEAD.pack(0, ids[topic.latest.number])
        self._read = {
            _HEAD.pack(0, ids[version.number]): resolution(_flat(version.schema), self._schema)
            for version in topic.versions
        }

    def encode(self, event: Event) -> bytes:
        """Write the event with the latest schema."""
        source = event.source
        if type(event) is not self._event or type(source) is not Source:
            raise ContractError(f"{self._name} cannot be made of {event!r}")
        record = event.__dict__ | source.__dict__
        sequence = source.sequence_number
        if type(sequence) is not int or sequence < 0:
            raise ContractError(f"{self._name}.sequence_number is {sequence!r}, not a natural number")
        for field, kind in self._exact:
            if type(record[field]) is not kind:
                raise ContractError(f"{self._name}.{field} is {record[field]!r}, not {kind.__name__}")
        if "" in self._names(record) or self._has_tweet_id:
            self._check_ids(record)
        body = BytesIO()
        try:
            record["sequence_number"] = str(sequence)
            schemaless_writer(body, self._schema, record, disable_tuple_notation=True)
        except (TypeError, ValueError, OverflowError) as error:
            raise ContractError(f"{self._name} cannot be written: {error}") from error
        return self._head + body.getvalue()

    def decode(self, data: bytes | None) -> Event:
        """Read one event, written with any version."""
        if not data:
            raise ContractError(f"{self._name}: no value")
        body = BytesIO(data)
        writer, reader, added, dropped = self._read.get(body.read(5)) or self._resolution(data)
        try:
            record: Any = schemaless_reader(body, writer, reader)
            if added or dropped:
                record |= added
                for name in dropped:
                    del record[name]
            digits = record.pop("sequence_number")
            sequence = int(digits)
        except (EOFError, LookupError, ValueError, SchemaResolutionError) as error:
            raise ContractError(f"{self._name} cannot be read: {type(error).__name__}: {error}") from error
        if body.tell() != len(data):
            raise ContractError(f"{self._name}: {len(data) - body.tell()} bytes too many")
        if not digits.isdecimal():  # int would take -5 and 1_000 too
            raise ContractError(f"{self._name}.sequence_number is {digits!r}, not a natural number")
        if self._has_tweet_id or "" in self._names(record):
            self._check_ids(record)
        source = _new(Source)
        place = source.__dict__
        place["shard_id"], place["sequence_number"] = record.pop("shard_id"), sequence
        record["source"] = source
        event = _new(self._event)
        _set(event, "__dict__", record)
        return event

    def _check_ids(self, record: dict[str, Any]) -> None:
        """Refuse what no store could hold and no script could sort, before it blocks whoever has to write it."""
        if "" in self._names(record):
            raise ContractError(f"{self._name} has an empty id: {record!r}")
        if self._has_tweet_id and not is_tweet_id(str(record["tweet_id"])):
            raise ContractError(f"{self._name}.tweet_id is {record['tweet_id']!r}, not a number of 19 digits")

    def _resolution(self, data: bytes) -> Resolution:
        if len(data) < _HEAD.size:
            raise ContractError(f"{self._name}: {len(data)} bytes are too few for a magic byte and a schema id")
        magic, schema_id = _HEAD.unpack_from(data)
        if magic != 0:
            raise ContractError(f"{self._name}: the magic byte is {magic}, not 0")
        schema = self._fetch(schema_id)
        try:
            writer = _flat(schema)
            name = writer["name"]
        except (LookupError, TypeError, ValueError, SchemaParseException) as error:
            raise ContractError(f"{self._name}: schema id {schema_id} is of no event: {schema}") from error
        if name != self._schema["name"]:
            raise ContractError(f"{self._name}: schema id {schema_id} is of {name}")
        found = self._read[data[: _HEAD.size]] = resolution(writer, self._schema)
        return found


def _flat(schema: str) -> Any:
    parsed = json.loads(schema)
    rows = (field["type"]["fields"] if field["name"] == "source" else [field] for field in parsed["fields"])
    return parse_schema({**parsed, "fields": list(chain.from_iterable(rows))})
