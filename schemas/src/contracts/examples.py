"""Every example of every version, for the tests of whoever consumes a topic.

There is no registry here: a version's number is its schema id.
"""

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from fastavro import parse_schema, schemaless_writer

from contracts.codec import Codec
from contracts.errors import ContractError, UnknownSchemaError
from contracts.events import Event, Tombstone
from contracts.topic import DATA, Topic, Version


class Example(NamedTuple):
    """The record as its version has it, the event that it is today, and the bytes it travelled as."""

    version: int
    name: str
    event: Event
    record: dict[str, Any]
    value: bytes


class LastExample(NamedTuple):
    """What follows an example of a compacted topic when its key is gone: an event without record and bytes."""

    version: int
    name: str
    event: Tombstone
    record: None = None
    value: None = None


def codec(topic: Topic) -> Codec:
    """Read the examples' bytes, and write more like them."""

    def fetch(schema_id: int) -> NoReturn:
        raise UnknownSchemaError(f"{topic.name} has no version {schema_id}")

    return Codec(topic, {version.number: version.number for version in topic.versions}, fetch)


def examples(topic: Topic, data: Path = DATA) -> list[Example]:
    """Return every example of every version, oldest version first."""
    return list(_examples(topic, data))


def last_example(topic: Topic, example: Example) -> LastExample:
    """Return the tombstone that follows an example of a compacted topic when its key is gone."""
    headers = {name: value.decode() for name, value in topic.headers(example.event)}
    gone = topic.tombstone(topic.key(example.event).encode(), headers)
    return LastExample(example.version, f"{example.name}, then gone", gone)


def written(version: Version, record: Mapping[str, Any], what: str) -> bytes:
    """Write a record with a version's schema, as Kafka has it; what is not of the schema is a ContractError."""
    body = BytesIO()
    body.write(b"\0" + version.number.to_bytes(4, "big"))
    try:
        schemaless_writer(body, parse_schema(json.loads(version.schema)), record, strict=True)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{what} is not of its schema: {error}") from error
    return body.getvalue()


def _examples(topic: Topic, data: Path) -> Iterator[Example]:
    read = codec(topic)
    for version in topic.versions:
        records = json.loads((data / "examples" / version.examples_file).read_text("utf-8"))
        for name, record in records.items():
            value = written(version, record, f"{version.examples_file}: {name!r}")
            yield Example(version.number, name, read.decode(value), record, value)
