"""Whether every version of a topic reads every other. Apache's avro package is the judge; this names the culprits."""

import json
from collections.abc import Iterator
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType, lookup_writer_field

from contracts.topic import Topic, Version

_Judge: Any = ReaderWriterCompatibilityChecker  # it has no types


def findings(topic: Topic) -> list[str]:
    """Return a sentence for each field that keeps a version from reading another, with the consumers that it hits.

    An old consumer meets new events when the producer is deployed first, a new one meets old events in the topic.
    """
    return [
        f"{topic.name}: version {reader.number} cannot read version {writer.number}: {culprit} ({topic.hits})"
        for reader, writer in permutations(topic.versions, 2)
        for culprit in culprits(reader, writer)
    ]


def culprits(reader: Version, writer: Version) -> list[str]:
    """Return what keeps one version from reading the other, a line for each field; nothing if it reads it."""
    return [*_culprits(avro.schema.parse(reader.schema), avro.schema.parse(writer.schema))]


def _culprits(reader: Any, writer: Any) -> Iterator[str]:
    if not _incompatible(_Judge().get_compatibility(reader, writer)):
        return
    blamed = [*_fields(reader, writer, "")]
    yield from blamed or [f"{reader.fullname} is not {writer.fullname}"]


def _fields(reader: Any, writer: Any, path: str) -> Iterator[str]:
    """Ask the judge about one field at a time, since the place it gives is lost inside unions."""
    for field in reader.fields:
        alone = SimpleNamespace(fields=[field])
        if not _incompatible(_Judge().check_reader_writer_record_fields(alone, writer, [])):
            continue
        written = lookup_writer_field(writer, field)
        if written is None:
            yield f"{path}{field.name} is not written, and has no default"
        elif field.type.type == written.type.type == "record":
            yield from _fields(field.type, written.type, f"{path}{field.name}.")
        else:
            yield f"{path}{field.name} is {_text(field)}, and was written as {_text(written)}"


def _incompatible(verdict: Any) -> bool:
    return verdict.compatibility is not SchemaCompatibilityType.compatible


def _text(field: Any) -> str:
    return json.dumps(field.type.to_json())
