"""What can be known of the contracts without a broker or a registry.

That no released schema has changed is known before: loading the topics checks its sha256.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from contracts import compatibility, schema_faults
from contracts.errors import ContractError
from contracts.examples import examples
from contracts.topic import Topic


def check(topics: Mapping[str, Topic], data: Path, say: Callable[[str], object]) -> None:
    """Pass if the topics agree with their classes, with their files and with their own past; else name every fault."""
    found = [*left_over(topics, data)]
    for topic in topics.values():
        faults = [*schema_faults.findings(topic)] or [*_of_its_files(topic, data)]
        found += faults
        if not faults:
            say(f"{topic.name}: {len(topic.versions)} version(s), {len(examples(topic, data))} examples, all agree")
    if found:
        raise ContractError("\n".join(found))


def left_over(topics: Mapping[str, Topic], data: Path) -> Iterator[str]:
    """Name every schema and every file of examples that belongs to no version of a topic."""
    versions = [version for topic in topics.values() for version in topic.versions]
    for folder, named in (
        ("avro", {version.schema_file for version in versions}),
        ("examples", {version.examples_file for version in versions}),
    ):
        for path in sorted((data / folder).iterdir()):
            if path.name not in named:
                yield f"{folder}/{path.name}: no topic's file names it: name it there, or delete it"


def _of_its_files(topic: Topic, data: Path) -> Iterator[str]:
    yield from compatibility.findings(topic)
    yield from _of_people(topic)
    schema = json.loads(topic.latest.schema)
    yield from _of_the_class(topic.event, schema["fields"], topic.name, topic.latest.schema_file)
    try:
        shown = {example.version for example in examples(topic, data)}
    except (ContractError, OSError, ValueError) as error:  # a file that is not there, or is no JSON
        yield f"{topic.name}: {error}"
        return
    for version in topic.versions:
        if version.number not in shown:
            yield f"{topic.name}: version {version.number} has no example: write one into {version.examples_file}"


def _of_people(topic: Topic) -> Iterator[str]:
    """Hold the topic's file to say of each field, once, whether it tells of people."""
    told = [*topic.personal.who, *topic.personal.what, *topic.personal.neither]
    fields = {field for version in topic.versions for field in version.fields}
    for field in sorted(fields | {*told}):
        if field not in fields:
            yield f"{topic.name}.{field} is in no version of the schema: take it out of `personal` in the topic's file"
        elif told.count(field) != 1:
            yield (
                f"{topic.name}.{field} stands {told.count(field)} times under `personal` in the topic's file: "
                "say once whether it tells who (an id), what, or neither"
            )


def _of_the_class(event: type, schema: list[dict[str, Any]], name: str, file: str) -> Iterator[str]:
    """Hold a class to the fields of a schema: no more, no fewer, and with the same defaults."""
    ours = {field.name: _default(field) for field in dataclasses.fields(event)}
    theirs = {field["name"]: _told(field.get("default", dataclasses.MISSING)) for field in schema}
    for field in (*theirs, *(it for it in ours if it not in theirs)):
        if field not in ours:
            yield f"{name}.{field} is in {file}, and not in events.py: add it to {event.__name__}"
        elif field not in theirs:
            yield (
                f"{name}.{field} is in events.py, and not in {file}: add it to the next version of the schema, "
                f"with a default, or take it out of {event.__name__}"
            )
        elif ours[field] != theirs[field]:
            yield f"{name}.{field}: {theirs[field]} in {file}, {ours[field]} in events.py: the class follows the schema"
    types = get_type_hints(event)
    for field in schema:
        nested = types.get(field["name"])
        if isinstance(nested, type) and dataclasses.is_dataclass(nested):
            yield from _of_the_class(nested, field["type"]["fields"], f"{name}.{field['name']}", file)


def _default(field: "dataclasses.Field[Any]") -> str:
    return _told(field.default if field.default_factory is dataclasses.MISSING else field.default_factory())


def _told(default: object) -> str:
    return "no default" if default is dataclasses.MISSING else f"the default {json.dumps(default)}"
