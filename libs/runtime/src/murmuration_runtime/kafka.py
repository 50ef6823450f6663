"""Kafka's topics as an administrator sees them: their ids, where they begin and end, how far a group has come."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # it exports it without saying

from contracts import Topic
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError

TIMEOUT_SECONDS = 5.0
FATAL_ONLY = 2  # a log_level of librdkafka: it writes several lines a second while a broker is away
_REFUSING = {
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}

Partition = tuple[str, int]
"""A topic's name and the number of one of its partitions."""


class KafkaAwayError(StoreAwayError):
    """Kafka does not answer, or lacks a topic: ask again."""


class KafkaTopics:
    """Some topics of the contracts, as Kafka has them. Safe among threads."""

    def __init__(self, bootstrap_servers: str, topics: Iterable[Topic], timeout: float = TIMEOUT_SECONDS) -> None:
        self._topics = {topic.name: topic for topic in topics}
        self._where = bootstrap_servers
        self._timeout = timeout
        self._client: AdminClient | None = None

    @property
    def partitions(self) -> frozenset[Partition]:
        """Every partition that the contracts give the topics."""
        return frozenset((topic.name, number) for topic in self._topics.values() for number in range(topic.partitions))

    def ids(self, extra: Sequence[str] = ()) -> dict[str, str]:
        """Return each topic's id, which a topic made again under the same name does not keep; also of extra topics.

        Raise ContractError for a topic whose number of partitions is not its contract's.
        """
        found = self._describe([*self._topics, *extra])
        for name, topic in self._topics.items():
            topic.check(len(found[name].partitions))
        return {name: str(topic.topic_id) for name, topic in found.items()}

    def committed(self, group: str, partitions: Iterable[Partition] | None = None) -> dict[Partition, int]:
        """Return the offset up to which the group has acknowledged each partition; 0 where it has nothing yet."""
        wanted = sorted(self.partitions if partitions is None else partitions)
        if not wanted:
            return {}
        asked = [ConsumerGroupTopicPartitions(group, [TopicPartition(*partition) for partition in wanted])]
        (future,) = self._connected().list_consumer_group_offsets(asked, request_timeout=self._timeout).values()
        found = self._answer(future).topic_partitions
        return {(each.topic, each.partition): max(0, each.offset) for each in found}

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset of the first message that Kafka still has of each partition."""
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset after the last message of each partition."""
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def behind(self, group: str, partitions: Iterable[Partition]) -> int:
        """Return how many messages of these partitions Kafka still has for the group."""
        wanted = sorted(partitions)
        starts, done, ends = self.starts(wanted), self.committed(group, wanted), self.ends(wanted)
        return sum(max(0, ends[each] - max(done[each], starts[each])) for each in wanted)

    def _describe(self, names: Sequence[str]) -> Mapping[str, Any]:
        asked = self._connected().describe_topics(TopicCollection(list(names)), request_timeout=self._timeout)
        return {name: self._answer(future, name) for name, future in asked.items()}

    def _offsets(self, partitions: Iterable[Partition], which: Any) -> dict[Partition, int]:
        asked = {TopicPartition(*partition): which for partition in partitions}
        answers = self._connected().list_offsets(asked, request_timeout=self._timeout) if asked else {}
        return {(each.topic, each.partition): self._answer(future).offset for each, future in answers.items()}

    def _connected(self) -> AdminClient:
        """Return a client; one that failed is not asked again: after a broker's end some fail for ever."""
        client = self._client or AdminClient({"bootstrap.servers": self._where, "log_level": FATAL_ONLY})
        self._client = client
        return client

    def _answer(self, future: Any, topic: str | None = None) -> Any:
        try:
            return future.result(self._timeout)
        except (KafkaException, TimeoutError) as error:
            self._client = None
            code = error.args[0].code() if isinstance(error, KafkaException) else None
            if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                name = topic or ", ".join(self._topics)
                raise KafkaAwayError(f"Kafka has no topic {name}: run `python -m contracts apply`") from error
            if code in _REFUSING:
                raise StoreRefusedError(f"Kafka at {self._where} refuses this process: {error}") from error
            raise KafkaAwayError(f"Kafka at {self._where} does not answer: {error}") from error
