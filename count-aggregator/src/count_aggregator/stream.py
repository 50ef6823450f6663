"""The topic as Kafka has it: which incarnation, how far it goes, and how far our group has come."""

from collections.abc import Iterable
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # it exports it without saying

from contracts import TOPICS, Topic

GROUP = "count-aggregator"
TOPIC = TOPICS["FollowChanged"]
PARTITION_IDS = tuple(f"{TOPIC.name}/{partition}" for partition in range(TOPIC.partitions))  # in the ledger
TIMEOUT_S = 5.0
_FATAL_ONLY = 2  # librdkafka writes several lines a second while a broker is away


class KafkaAwayError(Exception):
    """Kafka does not answer, or lacks the topic: ask again."""


class Stream:
    """One topic and one group."""

    def __init__(self, bootstrap_servers: str, topic: Topic) -> None:
        self._topic = topic
        self._where = bootstrap_servers
        self._client: AdminClient | None = None

    @property
    def partitions(self) -> range:
        """Every partition that the contract gives the topic."""
        return range(self._topic.partitions)

    def topic_id(self) -> str:
        """Return the id that a topic made again under the same name does not keep; refuse a wrong partition count."""
        name = self._topic.name
        found = self._answer(
            self._connected().describe_topics(TopicCollection([name]), request_timeout=TIMEOUT_S)[name]
        )
        self._topic.check(len(found.partitions))
        return str(found.topic_id)

    def ends(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return the offset after the last message of each partition."""
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def committed(self) -> dict[int, int]:
        """Return the offset up to which the group has acknowledged each partition; 0 where it has nothing yet."""
        asked = [TopicPartition(self._topic.name, partition) for partition in self.partitions]
        (future,) = (
            self._connected()
            .list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP, asked)], request_timeout=TIMEOUT_S)
            .values()
        )
        return {place.partition: max(0, place.offset) for place in self._answer(future).topic_partitions}

    def start(self, partition: int) -> int:
        """Return the offset of the first message that Kafka still has of a partition."""
        return self._offsets([partition], OffsetSpec.earliest())[partition]  # type: ignore[no-untyped-call]

    def behind(self, partitions: Iterable[int]) -> int:
        """Return how many messages of these partitions Kafka still has for the group."""
        wanted = list(partitions)
        starts = self._offsets(wanted, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        done, ends = self.committed(), self.ends(wanted)
        return sum(max(0, ends[each] - max(done[each], starts[each])) for each in wanted)

    def _offsets(self, partitions: Iterable[int], which: Any) -> dict[int, int]:
        asked = {TopicPartition(self._topic.name, partition): which for partition in partitions}
        answers = self._connected().list_offsets(asked, request_timeout=TIMEOUT_S) if asked else {}
        return {place.partition: self._answer(future).offset for place, future in answers.items()}

    def _connected(self) -> AdminClient:
        """Return a client; one that failed is not asked again: after a broker's end some fail for ever."""
        client = self._client or AdminClient({"bootstrap.servers": self._where, "log_level": _FATAL_ONLY})
        self._client = client
        return client

    def _answer(self, future: Any) -> Any:
        try:
            return future.result(TIMEOUT_S)
        except (KafkaException, TimeoutError) as error:
            self._client = None
            if isinstance(error, KafkaException) and error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                hint = f"Kafka has no topic {self._topic.name}: run `python -m contracts apply`"
                raise KafkaAwayError(hint) from error
            raise KafkaAwayError(f"Kafka at {self._where} does not answer: {error}") from error
