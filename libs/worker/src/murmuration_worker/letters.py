"""A topic's dead letters, as one consumer has them: which are open, and settling some of them, in any order.

Rule: a letter is open until it is settled: handled again, or dropped. The group SERVICE.dead-letters remembers which
are settled: all up to its committed offset, and beyond it the offsets in that commit's metadata. A letter whose header
`consumer` names another service is not ours; one without it comes from the bridge, and concerns every consumer.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaException, TopicPartition

from contracts import Topic
from murmuration_runtime.kafka import KafkaAwayError, connect
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_worker.dead_letters import CONSUMER
from murmuration_worker.messages import Message, pairs, texts

TIMEOUT_SECONDS = 10.0
METADATA_BYTES = 4096  # Kafka's offset.metadata.max.bytes


class TooManyHolesError(Exception):
    """So many letters were settled out of order that Kafka cannot remember which."""


@dataclass(frozen=True)
class Letter:
    """One letter, and when Kafka got it, in milliseconds."""

    message: Message
    sent_at: int | None

    @property
    def place(self) -> str:
        """Where the letter lies: its name in commands."""
        return f"{self.message.topic}/{self.message.partition}/{self.message.offset}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers as text."""
        return texts(self.message.headers)

    @property
    def ids(self) -> dict[str, str]:
        """Whom it concerns, as far as its headers say."""
        return {name: text for name, text in self.headers.items() if text and name.endswith("_id")}


class Letters:
    """One topic's letters for one service."""

    def __init__(self, consumer: Consumer, kafka: KafkaSettings, topic: Topic, service: str) -> None:
        self._consumer = consumer
        self._dlq = kafka.topic_name(topic.dlq)
        self._service = service
        self._partitions = range(topic.dead_letters.partitions)
        self._open: dict[int, set[int]] = {}
        self._ends: dict[int, int] = {}

    def open(self) -> list[Letter]:
        """Return the letters that are not settled yet, in the order of their offsets."""
        asked = [TopicPartition(self._dlq, partition) for partition in self._partitions]
        found = []
        for committed in self._consumer.committed(asked, timeout=TIMEOUT_SECONDS):
            settled = _offsets(committed.metadata)
            ours = [it for it in self._from(committed) if it.message.offset not in settled and self._is_ours(it)]
            self._open[committed.partition] = {it.message.offset for it in ours}
            found += ours
        return found

    def settle(self, letters: Collection[Letter]) -> None:
        """Remember that these letters are done with; they were open when that was last asked."""
        for letter in letters:
            self._open[letter.message.partition].discard(letter.message.offset)
        commits = []
        for partition, still_open in self._open.items():
            end = self._ends[partition]
            begin = min(still_open, default=end)
            beyond = _text(set(range(begin, end)) - still_open)
            if len(beyond) > METADATA_BYTES:
                raise TooManyHolesError(
                    f"too many letters behind {self._dlq}/{partition}/{begin} are settled: settle it first"
                )
            commits.append(TopicPartition(self._dlq, partition, begin, beyond))
        self._consumer.commit(offsets=commits, asynchronous=False)

    def _from(self, committed: TopicPartition) -> Iterator[Letter]:
        """Give each letter from the committed offset to the present end."""
        start, end = self._consumer.get_watermark_offsets(committed, timeout=TIMEOUT_SECONDS)
        self._ends[committed.partition] = end
        at = max(start, committed.offset)  # nothing settled yet is a negative offset
        self._consumer.assign([TopicPartition(self._dlq, committed.partition, at)])
        while at < end:
            found = self._consumer.poll(TIMEOUT_SECONDS)
            if found is None:
                raise KafkaAwayError(f"Kafka did not send the letter {self._dlq}/{committed.partition}/{at} in time")
            if (error := found.error()) is not None:
                raise KafkaException(error)
            at = found.offset() or 0
            kind, sent_at = found.timestamp()
            message = Message(self._dlq, committed.partition, at, found.key(), found.value(), pairs(found.headers()))
            yield Letter(message, None if kind == TIMESTAMP_NOT_AVAILABLE else sent_at)
            at += 1

    def _is_ours(self, letter: Letter) -> bool:
        return letter.headers.get(CONSUMER, self._service) == self._service


@contextmanager
def open_letters(kafka: KafkaSettings, topic: Topic, service: str) -> Iterator[Letters]:
    """Open a topic's dead letters for a service, for as long as the context lasts."""
    group = {"group.id": kafka.group_name(f"{service}.dead-letters"), "enable.auto.commit": False}
    consumer = connect(kafka, Consumer, **group)
    try:
        yield Letters(consumer, kafka, topic, service)
    except KafkaException as error:
        where = kafka.kafka_bootstrap_servers
        raise KafkaAwayError(f"Kafka at {where} did not give the letters of {topic.dlq}: {error}") from error
    finally:
        consumer.close()


def _text(offsets: Collection[int]) -> str:
    """Write offsets as ranges: 3-5,9-9."""
    starts = sorted(each for each in offsets if each - 1 not in offsets)
    ends = sorted(each for each in offsets if each + 1 not in offsets)
    return ",".join(f"{start}-{end}" for start, end in zip(starts, ends, strict=True))


def _offsets(text: str | None) -> set[int]:
    found: set[int] = set()
    for span in (text or "").split(","):
        start, _, end = span.partition("-")
        if start and end:
            found |= set(range(int(start), int(end) + 1))
    return found
