"""Kafka's topics as an administrator sees them: their ids, where they begin and end, how far a group has come."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it exports them without saying so
    AclOperation,
    AdminClient,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from contracts import Topic, kafka_settings
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.oauth_tokens import TokenError

TIMEOUT_SECONDS = 5.0
_GRACE_SECONDS = 2.0
_REASON_SECONDS = 0.2
FATAL_ONLY = 2  # a log_level of librdkafka: it writes several lines a second while a broker is away
READ, WRITE = AclOperation.READ, AclOperation.WRITE
_FORBIDDING = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
_REFUSING = {
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._AUTHENTICATION,  # noqa: SLF001 - librdkafka's own codes have names like this
    KafkaError._SSL,  # noqa: SLF001
}
_GRANT = "`python -m contracts acls` lists what each service needs"

Client = TypeVar("Client")
Partition = tuple[str, int]
"""A topic's name and the number of one of its partitions."""


class KafkaAwayError(StoreAwayError):
    """Kafka does not answer, or lacks a topic: ask again."""


def connect(kafka: KafkaSettings, kind: Callable[[dict[str, Any]], Client], **settings: Any) -> Client:
    """Make a client of librdkafka with these settings of its own; raise StoreRefusedError if it cannot be made."""
    try:
        kafka.fetch_token()  # a client without one waits for it for ten seconds, and then says less
        return kind(kafka.librdkafka(**settings))
    except (KafkaException, TokenError) as error:
        raise StoreRefusedError(
            f"Kafka at {kafka.kafka_bootstrap_servers} refuses this process: {error}; {kafka.hint}"
        ) from error


class KafkaTopics:
    """Some topics of the contracts, as Kafka has them. Safe among threads."""

    def __init__(
        self,
        kafka: KafkaSettings,
        topics: Iterable[Topic],
        timeout: float = TIMEOUT_SECONDS,
        rights: Mapping[str, AclOperation] | None = None,
    ) -> None:
        """Take what this process must be allowed to do with topics or their .dlq: ids() raises if it is not."""
        self._kafka = kafka
        self._topics = {topic.name: topic for topic in topics}
        self._where = kafka.kafka_bootstrap_servers
        self._timeout = timeout
        self._rights = rights or {}
        self._client: AdminClient | None = None
        self._asking = threading.Lock()
        self._consumers: dict[str, Consumer] = {}  # by group; used by whoever holds the lock
        self._trouble: KafkaError | None = None

    @property
    def partitions(self) -> frozenset[Partition]:
        """Every partition that the contracts give the topics."""
        return frozenset((topic.name, number) for topic in self._topics.values() for number in range(topic.partitions))

    def check(self) -> None:
        """Raise KafkaAwayError or StoreRefusedError unless Kafka answers this process."""
        self._answer(self._connected().describe_cluster(request_timeout=self._timeout))

    def ids(self, extra: Sequence[str] = ()) -> dict[str, str]:
        """Return each topic's id, which a topic made again under the same name does not keep; also of extra topics.

        Raise ContractError for a topic whose number of partitions is not its contract's.
        """
        wanted = [*self._topics, *extra]
        found = self._describe([*dict.fromkeys([*wanted, *self._rights])])
        for name, topic in self._topics.items():
            topic.check(len(found[name].partitions))
        for name, right in self._rights.items():
            if right not in found[name].authorized_operations:
                raise StoreRefusedError(
                    f"Kafka at {self._where} does not let this process {right.name} the topic "
                    f"{self._kafka.topic_name(name)}: {_GRANT}"
                )
        return {name: str(found[name].topic_id) for name in wanted}

    def differing(self) -> dict[tuple[str, str], str]:
        """Return where Kafka has another setting than the contract: by topic and setting, and what it has instead."""
        found = self._describe([*self._topics])
        asked = {name: ConfigResource(ResourceType.TOPIC, self._kafka.topic_name(name)) for name in self._topics}
        answers = self._connected().describe_configs([*asked.values()], request_timeout=self._timeout)
        differ = {}
        for name, topic in self._topics.items():
            has = self._answer(answers[asked[name]], name)
            replicas = min(len(partition.replicas) for partition in found[name].partitions)
            for setting, value in kafka_settings.of_topic(topic, replicas).items():
                if has[setting].value != value:
                    differ[name, setting] = f"{has[setting].value} and not {value}"
        return differ

    def committed(self, group: str, partitions: Iterable[Partition] | None = None) -> dict[Partition, int]:
        """Return the offset up to which the group has acknowledged each partition; 0 where it has nothing yet.

        Raise StoreRefusedError unless this process may be in the group. A consumer asks, which never joins: the admin
        client of librdkafka ends the process (SIGSEGV) now and then when a broker that starts is asked this.
        """
        wanted = sorted(self.partitions if partitions is None else partitions)
        if not wanted:
            return {}
        with self._asking:
            found = self._ask_as_consumer(group, [self._place(each) for each in wanted])
        for place in found:
            if place.error is not None:
                raise self._named(KafkaException(place.error), self._partition(place)[0], group)
        return {self._partition(each): max(0, each.offset) for each in found}

    def starts(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset of the first message that Kafka still has of each partition."""
        return self._offsets(partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]

    def ends(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return the offset after the last message of each partition."""
        return self._offsets(partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]

    def behind(self, group: str, partitions: Iterable[Partition]) -> int:
        """Return how many messages of these partitions Kafka still has for the group."""
        return sum(self.behind_each(group, partitions).values())

    def behind_each(self, group: str, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """Return of each of these partitions how many messages Kafka still has for the group."""
        wanted = sorted(partitions)
        starts, done, ends = self.starts(wanted), self.committed(group, wanted), self.ends(wanted)
        return {each: max(0, ends[each] - max(done[each], starts[each])) for each in wanted}

    def _ask_as_consumer(self, group: str, places: list[TopicPartition]) -> list[TopicPartition]:
        """Ask what the group has committed; a consumer that failed is not asked again."""
        consumer = self._consumers.pop(group, None)
        if consumer is None:
            own = {"group.id": self._kafka.group_name(group), "enable.auto.commit": False, "log_level": FATAL_ONLY}
            consumer = connect(self._kafka, Consumer, **own, error_cb=self._note)
        try:
            consumer.poll(0)  # takes what was told since the last time
            found = consumer.committed(places, timeout=self._timeout)
        except KafkaException as error:
            told = consumer.poll(_REASON_SECONDS)  # the exception itself is only a timeout
            reason = told.error() if told else None
            consumer.close()
            raise self._named(KafkaException(reason) if reason else error, None, group) from error
        self._consumers[group] = consumer
        return found

    def _describe(self, names: Sequence[str]) -> Mapping[str, Any]:
        asked = self._connected().describe_topics(
            TopicCollection([self._kafka.topic_name(name) for name in names]),
            include_authorized_operations=bool(self._rights),
            request_timeout=self._timeout,
        )
        return {name: self._answer(asked[self._kafka.topic_name(name)], name) for name in names}

    def _offsets(self, partitions: Iterable[Partition], which: Any) -> dict[Partition, int]:
        asked = {self._place(partition): which for partition in partitions}
        answers = self._connected().list_offsets(asked, request_timeout=self._timeout) if asked else {}
        return {self._partition(each): self._answer(future, each.topic).offset for each, future in answers.items()}

    def _place(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._kafka.topic_name(partition[0]), partition[1])

    def _partition(self, place: TopicPartition) -> Partition:
        return place.topic.removeprefix(self._kafka.kafka_topic_prefix), place.partition

    def _connected(self) -> AdminClient:
        """Return a client; one that failed is not asked again: after a broker's end some fail for ever."""
        if (client := self._client) is not None:
            return client
        self._client = client = connect(self._kafka, AdminClient, log_level=FATAL_ONLY, error_cb=self._note)
        return client

    def _note(self, trouble: KafkaError) -> None:
        """Keep why brokers cannot be reached, which no answer says; a refusal rather than what follows from it."""
        if self._trouble is None or self._trouble.code() not in _REFUSING:
            self._trouble = trouble

    def _answer(self, future: Any, topic: str | None = None, group: str | None = None) -> Any:
        try:
            answer = future.result(self._timeout + _GRACE_SECONDS)  # a client with a question open is not given up
        except (KafkaException, TimeoutError) as error:
            raise self._named(error, topic, group) from error
        self._trouble = None
        return answer

    def _named(self, error: Exception, topic: str | None, group: str | None) -> StoreAwayError:
        """Say what an error of Kafka's means to us."""
        client, self._client = self._client, None
        if client is not None:
            client.poll(0)  # tells _note
        trouble, self._trouble = self._trouble, None
        code = error.args[0].code() if isinstance(error, KafkaException) else None
        name = self._kafka.topic_name(topic) if topic else ", ".join(map(self._kafka.topic_name, self._topics))
        if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return KafkaAwayError(f"Kafka has no topic {name}: run `python -m contracts apply`")
        if code in _FORBIDDING:
            what = f"the group {self._kafka.group_name(group)}" if group else f"the topic {name}"
            return StoreRefusedError(f"Kafka at {self._where} refuses this process {what}: {error}; {_GRANT}")
        if code in _REFUSING or (trouble and trouble.code() in _REFUSING):
            told = trouble.str() if trouble else str(error)
            return StoreRefusedError(f"Kafka at {self._where} refuses this process: {told}; {self._kafka.hint}")
        return KafkaAwayError(f"Kafka at {self._where} does not answer: {trouble.str() if trouble else error}")
