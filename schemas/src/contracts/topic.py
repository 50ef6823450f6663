"""The topics, read from their files: the only place that knows a topic's shape."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType

import yaml

from contracts.errors import ContractError
from contracts.events import EVENTS, Event, Source, Tombstone
from contracts.murmur2 import partition
from contracts.topic_parts import DAY_MS, DeadLetters, Outage, Personal

DATA = Path(__file__).parent / "data"
_OF_TOMBSTONES = {"event_id", "source.shard_id", "source.sequence_number", "version"}
STREAM_RETENTION_MS = DAY_MS  # DynamoDB's own
DELETE, COMPACT = "delete", "compact"
CLOCKS_MS = DAY_MS  # how far the clocks of bridge, consumer, Kafka and DynamoDB may be apart, all in all


@dataclass(frozen=True)
class Version:
    """One released schema. Its text never changes: the sha256 in the topic's file is checked on every start."""

    number: int
    schema_file: str
    examples_file: str
    schema: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its record's fields."""
        return tuple(field["name"] for field in json.loads(self.schema)["fields"])


@dataclass(frozen=True)
class Topic:
    """One topic's contract. One that grows becomes a new topic in Kafka, under a name like FollowChanged-2.

    A compacted one keeps the last state of each key. So its offsets have holes, and a key that is gone has a tombstone.
    """

    name: str
    event: type[Event]
    description: str
    source: str
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    key_field: str
    header_fields: tuple[str, ...]
    personal: Personal
    partitioner: str
    partitions: int
    grown_from: tuple[int, ...]
    replication_factor: int
    min_insync_replicas: int
    outage_to_survive: Outage
    retention_days: int
    segment_days: int
    max_message_bytes: int
    dead_letters: DeadLetters
    compatibility: str
    versions: tuple[Version, ...]
    cleanup: str = DELETE

    @property
    def is_compacted(self) -> bool:
        """Whether Kafka deletes what a later event of the same key replaces, instead of what is old."""
        return self.cleanup == COMPACT

    @property
    def hits(self) -> str:
        """Whom a change hits that cannot be read, for an error."""
        return f"hits {', '.join(self.consumers) or 'nobody here'}"

    @property
    def subject(self) -> str:
        """Its name in the schema registry."""
        return f"{self.name}-value"

    @property
    def dlq(self) -> str:
        """The topic beside it for what cannot be processed."""
        return f"{self.name}.dlq"

    @property
    def retention_ms(self) -> int:
        """How long Kafka keeps an event at least; of a compacted topic a tombstone, and the last state for good."""
        return self.retention_days * DAY_MS

    @property
    def segment_ms(self) -> int:
        """How far apart the oldest and the newest event of a segment may be; Kafka deletes whole segments."""
        return self.segment_days * DAY_MS

    @property
    def readable_ms(self) -> int:
        """How long Kafka may still have an event: the newest of its segment decides."""
        if self.is_compacted:
            raise ContractError(
                f"{self.name} is compacted: it keeps a state for good, so order states by their version"
            )
        return self.retention_ms + self.segment_ms

    @property
    def remembered_ms(self) -> int:
        """How long a consumer must remember what it counted of a shard, after it counted it.

        A bridge may publish an event again for as long as the stream has it, and Kafka has that copy as long as any.
        """
        return self.readable_ms + STREAM_RETENTION_MS + CLOCKS_MS

    @property
    def too_old_ms(self) -> int:
        """The age, by its time in Kafka, from which an event may be one that its consumer has forgotten.

        A copy is made at most the stream's retention after the event; each side has half of what clocks may differ.
        """
        return self.readable_ms + CLOCKS_MS // 2

    @property
    def latest(self) -> Version:
        """The version that is written."""
        return self.versions[-1]

    def key(self, event: Event) -> str:
        """Return the Kafka key: what must stay in order shares it."""
        key: str = getattr(event, self.key_field)
        return key

    def partition(self, key: str) -> int:
        """Return the partition of a key, the same for the life of the topic."""
        return partition(key.encode(), self.partitions)

    def ancestors(self, partition: int) -> list[tuple[str, int]]:
        """Return where the keys of a partition lay before the topic grew, oldest first: the name and partition then."""
        stem = self.event.__name__
        return [(_generation(stem, n), partition % few) for n, few in enumerate(self.grown_from, 1)]

    def check(self, partitions: int) -> None:
        """Refuse the topic as Kafka has it if its partitions are not as many as its contract says."""
        check_partitions(self.name, self.partitions, partitions)

    def headers(self, event: Event) -> list[tuple[str, bytes]]:
        """Return identity, place and ids, for whoever cannot decode the value."""
        return [(name, str(get(event)).encode()) for name, get in self._headers]

    def tombstone(self, key: bytes | None, headers: Mapping[str, str]) -> Tombstone:
        """Read a message without a value: only a compacted topic has them, with a key and the headers of its events."""
        if not self.is_compacted:
            raise ContractError(f"{self.name}: no value")
        try:
            source = Source(headers["shard_id"], int(headers["sequence_number"]))
            gone = Tombstone(headers["event_id"], source, (key or b"").decode(), int(headers["version"]))
        except (KeyError, ValueError) as error:
            raise ContractError(f"{self.name}: no tombstone: {type(error).__name__}: {error}") from error
        if not gone.key:
            raise ContractError(f"{self.name}: a tombstone without a key")
        return gone

    @cached_property
    def _headers(self) -> list[tuple[str, Callable[[Event], object]]]:
        return [(path.rpartition(".")[2], attrgetter(path)) for path in self.header_fields]


def check_partitions(topic: str, expected: int, found: int) -> None:
    """Refuse another number of partitions: some keys would lie where nobody looks for them, or out of their order."""
    if found != expected:
        raise ContractError(
            f"topic {topic} has {found} partitions where its contract says {expected}: "
            "the order of events rests on that number, so growing means a new topic"
        )


def load(data: Path, events: Mapping[str, type[Event]] = EVENTS) -> Mapping[str, Topic]:
    """Read every topic's file under data, or say which file is wrong and why; each has a class among the events."""
    paths = sorted((data / "topics").glob("*.yaml"))
    return MappingProxyType({path.stem: _topic(path, data, events) for path in paths})


def _topic(path: Path, data: Path, events: Mapping[str, type[Event]]) -> Topic:
    if path.stem not in events:
        raise ContractError(f"{path.name}: contracts.events has no class {path.stem}")
    try:
        entry = yaml.safe_load(path.read_text("utf-8"))
        grown_from = tuple(entry.pop("grown_from", ()))
        versions = tuple(_version(number, data, **version) for number, version in enumerate(entry.pop("versions"), 1))
        topic = Topic(
            name=_generation(path.stem, len(grown_from) + 1),
            event=events[path.stem],
            grown_from=grown_from,
            key_field=entry.pop("key"),
            header_fields=tuple(entry.pop("headers")),
            personal=Personal(**{kind: tuple(fields) for kind, fields in entry.pop("personal").items()}),
            producers=tuple(entry.pop("producers")),
            consumers=tuple(entry.pop("consumers")),
            outage_to_survive=Outage(**entry.pop("outage_to_survive")),
            dead_letters=DeadLetters(**entry.pop("dead_letters")),
            versions=versions,
            **entry,
        )
    except (AttributeError, KeyError, TypeError, OSError, yaml.YAMLError) as error:
        raise ContractError(f"{path.name}: {type(error).__name__}: {error}") from error
    for broken, rule in (
        (topic.partitioner != "murmur2", f"partitioner {topic.partitioner} is not murmur2, which Topic.partition is"),
        (topic.compatibility != "FULL_TRANSITIVE", f"{topic.compatibility} is not FULL_TRANSITIVE, which check proves"),
        (topic.segment_days < 1 or topic.max_message_bytes < 1, "segment_days and max_message_bytes must be above 0"),
        (
            any(many % few or many <= few for few, many in pairwise([*topic.grown_from, topic.partitions])),
            f"{topic.partitions} partitions, grown from {grown_from}: each must be a multiple of the one before it",
        ),
        (topic.retention_days <= topic.outage_to_survive.days, "retention must be longer than the outage to survive"),
        (not (topic.producers and versions), "producers and versions must not be empty"),
        (topic.cleanup not in (DELETE, COMPACT), f"cleanup {topic.cleanup} is neither {DELETE} nor {COMPACT}"),
        (
            topic.is_compacted and bool(_OF_TOMBSTONES - {*topic.header_fields}),
            f"a compacted topic's headers have {', '.join(sorted(_OF_TOMBSTONES))}: a tombstone has nothing else",
        ),
    ):
        if broken:
            raise ContractError(f"{path.name}: {rule}")
    return topic


def _generation(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _version(number: int, data: Path, *, schema: str, sha256: str, examples: str) -> Version:
    content = (data / "avro" / schema).read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if actual != sha256:
        raise ContractError(f"{schema} is {actual}, not {sha256}: a released schema never changes, add a version")
    return Version(number, schema, examples, content.decode())


TOPICS = load(DATA)
