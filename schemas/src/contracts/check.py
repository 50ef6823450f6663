"""What can be known of the contracts without a broker or a registry.

That no released schema has changed is known before: loading the topics checks its sha256.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

from contracts import compatibility
from contracts.errors import ContractError
from contracts.examples import examples
from contracts.topic import Topic


def check(topics: Mapping[str, Topic], data: Path, say: Callable[[str], object]) -> None:
    """Pass if the topics agree with their classes, with their files and with their own past; tell of each."""
    no_file_is_left_over(topics, data)
    for topic in topics.values():
        compatibility.check(topic)
        class_has_the_fields(topic)
        say(f"{topic.name}: {len(topic.versions)} version(s), {count_examples(topic, data)} examples, all agree")


def no_file_is_left_over(topics: Mapping[str, Topic], data: Path) -> None:
    """See that every schema and every file of examples belongs to a version of a topic."""
    versions = [version for topic in topics.values() for version in topic.versions]
    for folder, named in (
        ("avro", {version.schema_file for version in versions}),
        ("examples", {version.examples_file for version in versions}),
    ):
        if unnamed := {path.name for path in (data / folder).iterdir()} - named:
            raise ContractError(f"{folder}/{', '.join(sorted(unnamed))}: no topic's file names it")


def class_has_the_fields(topic: Topic) -> None:
    """Hold the event's class to the fields of the latest schema, no more and no fewer."""
    ours, theirs = {field.name for field in fields(topic.event)}, set(topic.latest.fields)
    if ours != theirs:
        raise ContractError(f"{topic.name}: class and {topic.latest.schema_file} differ by {', '.join(ours ^ theirs)}")


def count_examples(topic: Topic, data: Path) -> int:
    """Count the examples, each of which is read; every version has some."""
    versions = [example.version for example in examples(topic, data)]
    if bare := {version.number for version in topic.versions} - set(versions):
        raise ContractError(f"{topic.name}: version {min(bare)} has no example")
    return len(versions)
