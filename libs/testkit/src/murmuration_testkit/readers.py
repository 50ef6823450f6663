"""What whoever reads a topic must see, as Apache's avro package reads it; and topics that show every example."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import avro.io
import avro.schema
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from contracts.apply import apply_subject, apply_topics, wanted
from contracts.examples import examples
from contracts.registry import Registry
from contracts.topic import Topic, Version
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.topics import admin

Place = tuple[int, int]
"""A partition and an offset."""
TIMEOUT_S = 120


class Asked:
    """A topic to be read with a version of its schema, as the clients in schemas/clients take it for an argument."""

    def __init__(self, topic: Topic, reader: Version, directory: Path) -> None:
        self.topic = topic
        self.reader = reader
        self._file = directory / f"{topic.name}.{reader.number}.avsc"
        self._file.write_text(reader.schema)

    def __str__(self) -> str:
        """Return the argument."""
        return f"{self.topic.name}={self._file}"


@contextmanager
def shown(topic: Topic) -> Iterator[Topic]:
    """Put every example of every version on a topic of its own, as Kafka has them; it is gone afterwards."""
    own = replace(topic, name=f"{topic.name}-shown-{uuid.uuid4().hex[:8]}")
    registry, kafka = Registry(os.environ["SCHEMA_REGISTRY_URL"]), admin()
    both = wanted(own, 1)
    try:
        apply_topics(kafka, both, str)
        apply_subject(registry, own, str)
        ids = {version.number: registry.id_of(own, version) for version in own.versions}
        producer = Producer(read(KafkaSettings).librdkafka())
        for example in examples(topic):
            key = topic.key(example.event)
            value = b"\0" + ids[example.version].to_bytes(4, "big") + example.value[5:]
            producer.produce(own.name, value, key.encode(), topic.partition(key))
        if left := producer.flush(TIMEOUT_S):
            raise TimeoutError(f"{left} examples do not arrive on {own.name}")
        yield own
    finally:
        for future in kafka.delete_topics([each.name for each in both]).values():
            future.exception()
        url = f"{os.environ['SCHEMA_REGISTRY_URL']}/subjects/{own.subject}"
        urlopen(Request(url, method="DELETE"), timeout=5).close()  # noqa: S310 - the stack's own


def values(name: str) -> dict[Place, bytes | None]:
    """Return all that a topic has now."""
    own = {"group.id": uuid.uuid4().hex, "enable.partition.eof": True, "fetch.wait.max.ms": 50}
    consumer = Consumer(read(KafkaSettings).librdkafka(**own))
    numbers = consumer.list_topics(name, 10).topics[name].partitions
    consumer.assign([TopicPartition(name, number, OFFSET_BEGINNING) for number in numbers])
    found: dict[Place, bytes | None] = {}
    ended: set[int] = set()
    while ended != set(numbers):
        message: Any = consumer.poll(10)
        if message.error() is None:
            found[message.partition(), message.offset()] = message.value()
        elif message.error().code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own codes are named so
            ended.add(message.partition())
        else:
            raise OSError(str(message.error()))
    consumer.close()
    return found


def as_read(topic: Topic, found: Mapping[Place, bytes | None], reader: Version | None) -> dict[Place, Any]:
    """Return the records that these values are to a reader with a version, or as they were written."""
    registry = Registry(os.environ["SCHEMA_REGISTRY_URL"])
    ids = {registry.id_of(topic, version): avro.schema.parse(version.schema) for version in topic.versions}
    wanted_schema = avro.schema.parse(reader.schema) if reader else None

    def record(value: bytes) -> Any:
        written = ids[int.from_bytes(value[1:5], "big")]
        return avro.io.DatumReader(written, wanted_schema or written).read(avro.io.BinaryDecoder(BytesIO(value[5:])))

    return {place: None if value is None else record(value) for place, value in found.items()}


def stock_python(requirements: Path, directory: Path) -> list[str]:
    """Return a Python of an environment that has these requirements, and nothing of ours."""
    uv, environment = str(Path(sys.executable).with_name("uv")), directory / "stock"
    python = str(environment / "bin/python")
    for command in (
        [uv, "venv", "-q", "--python", sys.executable, str(environment)],
        [uv, "pip", "install", "-q", "--python", python, "-r", str(requirements)],
    ):
        subprocess.run(command, check=True, timeout=TIMEOUT_S)
    return [python]


def as_told(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, dict[Place, Any]]:
    """Run a program that reads topics to their ends; return the records that it prints, by the argument that asked."""
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    found: dict[str, dict[Place, Any]] = {}
    for line in map(json.loads, done.stdout.splitlines()):
        found.setdefault(line["read"], {})[line["partition"], line["offset"]] = line["record"]
    return found
