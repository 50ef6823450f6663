"""The topics as Kafka has them: which incarnation, how far they go, and how far our group has come."""

from collections.abc import Iterable, Sequence
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]  # it exports it without saying

from contracts import TOPICS, Topic

GROUP = "fanout-worker"
TOPIC_LIST = [topic for topic in TOPICS.values() if GROUP in topic.consumers]
TIMEOUT_S = 5.0
_FATAL_ONLY = 2  # librdkafka writes several lines a second while a broker is away

Place = tuple[str, int]  # a topic's name and a partition of it


class KafkaAwayError(Exception):
    """Kafka does not answer, or lacks a topic: ask again."""


class Streams:
    """Some topics and one group."""

    def __init__(self, bootstrap_servers: str, topics: Sequence[Topic]) -> None:
        self._topics = {topic.name: topic for topic in topics}
        self._where = bootstrap_servers
        self._client: AdminClient | None = None

    @property
    def places(self) -> frozenset[Place]:
        """Every partition that the contracts give the topics."""
        return frozenset((topic.name, number) for topic in self._topics.values() for number in range(topic.partitions))

    def check(self) -> dict[str, str]:
        """Return the topics' ids; refuse a topic with another number of partitions than its contract's."""
        found = self._described()
        for name, topic in self._topics.items():
            topic.check(len(found[name].partitions))
        return {name: str(topic.topic_id) for name, topic in found.items()}

    def topic_ids(self) -> dict[str, str]:
        """Return the ids that topics made again under the same names do not keep."""
        return {name: str(topic.topic_id) for name, topic in self._described().items()}

    def committed(self) -> dict[Place, int]:
        """Return the offset up to which the group has acknowledged each partition; 0 where it has nothing yet."""
        return self._committed(sorted(self.places))

    def start(self, place: Place) -> int:
        """Return the offset of the first message that Kafka still has of a partition."""
        return self._offsets([place], OffsetSpec.earliest())[place]  # type: ignore[no-untyped-call]

    def behind(self, places: Iterable[Place]) -> int:
        """Return how many messages of these partitions Kafka still has for the group."""
        wanted = sorted(places)
        starts = self._offsets(wanted, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
        done = self._committed(wanted)
        ends = self._offsets(wanted, OffsetSpec.latest())  # type: ignore[no-untyped-call]
        return sum(max(0, ends[each] - max(done[each], starts[each])) for each in wanted)

    def _described(self) -> dict[str, Any]:
        asked = self._connected().describe_topics(TopicCollection(list(self._topics)), request_timeout=TIMEOUT_S)
        return {name: self._answer(future) for name, future in asked.items()}

    def _committed(self, places: Sequence[Place]) -> dict[Place, int]:
        if not places:
            return {}
        asked = [ConsumerGroupTopicPartitions(GROUP, [TopicPartition(*place) for place in places])]
        (future,) = self._connected().list_consumer_group_offsets(asked, request_timeout=TIMEOUT_S).values()
        found = self._answer(future).topic_partitions
        return {(place.topic, place.partition): max(0, place.offset) for place in found}

    def _offsets(self, places: Sequence[Place], which: Any) -> dict[Place, int]:
        asked = {TopicPartition(*place): which for place in places}
        answers = self._connected().list_offsets(asked, request_timeout=TIMEOUT_S) if asked else {}
        return {(place.topic, place.partition): self._answer(future).offset for place, future in answers.items()}

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
                hint = f"Kafka lacks a topic of {', '.join(self._topics)}: run `python -m contracts apply`"
                raise KafkaAwayError(hint) from error
            raise KafkaAwayError(f"Kafka at {self._where} does not answer: {error}") from error
