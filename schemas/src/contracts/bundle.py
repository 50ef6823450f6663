"""The contracts for a team in another language: schemas, examples and a manifest, as files of one archive. Pure.

Rule: whoever has the same version of the package makes the same bytes. manifest.json names every other file with its
sha256, so a copy can be checked, and a test needs to know no other path than that of the manifest.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from fastavro import json_writer, parse_schema

from contracts import releases
from contracts.errors import ContractError
from contracts.examples import Example, examples
from contracts.topic import Topic, Version

FORMATS = {"json": "json", "bare": "avro", "confluent": "confluent"}  # of an example, with the ends of their names
ABOUT = (
    "Examples are in Avro's JSON encoding (json), as bare Avro (bare), and as Kafka has them: a zero, the schema's id "
    "in four bytes, Avro (confluent). There is no registry here, so the id is the number of the version."
)


def archive(found: Mapping[str, bytes]) -> bytes:
    """Return files as a zip, in which nothing tells when or where it was made."""
    packed = BytesIO()
    with ZipFile(packed, "w") as file:
        for path, content in found.items():
            entry = ZipInfo(path)
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)  # as it is: what compresses has versions of its own
    return packed.getvalue()


def files(topics: Mapping[str, Topic], data: Path) -> dict[str, bytes]:
    """Return the bundle's files by their paths, the manifest first."""
    found: dict[str, bytes] = {}
    described = {stem: _describe(stem, topic, data, found) for stem, topic in topics.items()}
    manifest = {
        "package": "event-contracts",
        "version": releases.version(data),
        "about": ABOUT,
        "topics": described,
        "files": {path: sha256(content).hexdigest() for path, content in found.items()},
    }
    return {"manifest.json": json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n", **found}


def _describe(stem: str, topic: Topic, data: Path, found: dict[str, bytes]) -> dict[str, Any]:
    """Return a topic's part of the manifest, and add its files to those that are found."""
    file = f"topics/{stem}.yaml"
    found[file] = (data / file).read_bytes()
    all_examples = examples(topic, data)
    return {
        "name": topic.name,
        "subject": topic.subject,
        "description": topic.description,
        "key": topic.key_field,
        "partitions": topic.partitions,
        "partitioner": topic.partitioner,
        "cleanup": topic.cleanup,
        "compatibility": topic.compatibility,
        "file": file,
        "versions": [
            {
                "version": version.number,
                "since": releases.since(f"{stem} {version.number}", data),
                "schema": _add(found, f"avro/{stem}/{version.number}.avsc", version.schema.encode()),
                "examples": [
                    _example(stem, topic, version, example, found)
                    for example in all_examples
                    if example.version == version.number
                ],
            }
            for version in topic.versions
        ],
    }


def _example(stem: str, topic: Topic, version: Version, example: Example, found: dict[str, bytes]) -> dict[str, Any]:
    name = "-".join(re.findall(r"[a-z0-9]+", example.name.lower()))
    key = topic.key(example.event)
    text = StringIO()
    json_writer(text, parse_schema(json.loads(version.schema)), [example.record])
    content = {"json": text.getvalue().encode(), "bare": example.value[5:], "confluent": example.value}
    paths = {
        form: _add(found, f"examples/{stem}/{version.number}/{name}.{end}", content[form])
        for form, end in FORMATS.items()
    }
    headers = {header: value.decode() for header, value in topic.headers(example.event)}
    return {"name": example.name, "key": key, "partition": topic.partition(key), "headers": headers, **paths}


def _add(found: dict[str, bytes], path: str, content: bytes) -> str:
    if path in found:
        raise ContractError(f"two examples would be {path}: give one of them another name")
    found[path] = content
    return path
