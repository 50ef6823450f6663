"""On librdkafka's mock cluster: what publish() returned for lies in the log, in order, whatever the broker answers."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from cdc_bridge.kafka_producer import KNOWN_SECONDS
from cdc_bridge.kafka_publisher import PublishError, RefusedError

from .mock_kafka import MockKafka, numbered
from .publishers import publisher_to

RETRIABLE = {
    "CORRUPT_MESSAGE": 2,
    "UNKNOWN_TOPIC_OR_PARTITION": 3,
    "NOT_LEADER_OR_FOLLOWER": 6,
    "REQUEST_TIMED_OUT": 7,
    "NOT_ENOUGH_REPLICAS": 19,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": 20,
    "KAFKA_STORAGE_ERROR": 56,
    "UNKNOWN_PRODUCER_ID": 59,
}
BUMPS_EPOCH = "UNKNOWN_PRODUCER_ID"  # librdkafka begins a new one by itself, and the producer ends when it sees that
REFUSING = {
    "INVALID_FETCH_SIZE": 4,
    "MESSAGE_TOO_LARGE": 10,
    "RECORD_LIST_TOO_LARGE": 18,
    "INVALID_TIMESTAMP": 32,
    "INVALID_RECORD": 87,
}
FATAL = {
    "INVALID_REQUIRED_ACKS": 21,
    "TOPIC_AUTHORIZATION_FAILED": 29,
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": 43,
    "POLICY_VIOLATION": 44,
    "OUT_OF_ORDER_SEQUENCE_NUMBER": 45,
    "INVALID_PRODUCER_EPOCH": 47,
}
UNKNOWN = {"DUPLICATE_SEQUENCE_NUMBER": 46}
ERRORS = RETRIABLE | REFUSING | FATAL | UNKNOWN
COUNT = 5  # of a page's messages, each in a request of its own
WHOLE = [*range(COUNT)]
REQUESTS = {"first": 0, "middle": 2, "last": COUNT - 1}
CASES = [*itertools.product(ERRORS, REQUESTS)]
TOPIC = "FollowChanged"


@pytest.fixture
def kafka():
    with MockKafka(TOPIC, partitions=2) as cluster:
        yield cluster


def page(partition=0):
    """Make messages of which no two share a request."""
    return numbered(TOPIC, WHOLE, size=600_000, partition=partition)


def publish_a_page(case):
    """Publish it while one request fails; say what publish() raised, and what lies in the log."""
    warm, error, request = case
    with MockKafka(TOPIC, partitions=2) as kafka:
        with publisher_to(kafka.settings) as publisher:
            publisher.publish(numbered(TOPIC, [-1], partition=0 if warm else 1))
            kafka.delay(20)  # so that more than one request is under way
            kafka.answer(*[0] * REQUESTS[request], ERRORS[error])
            try:
                publisher.publish(page())
                raised = None
            except PublishError as error:
                raised = error
        return raised, kafka.numbers(TOPIC, 0)


@pytest.fixture(scope="module")
def outcomes():
    """Run every case beside the others: a producer takes half a second to begin."""
    cases = [(warm, *case) for warm in (True, False) for case in CASES]
    with ThreadPoolExecutor(len(cases)) as pool:
        return dict(zip(cases, pool.map(publish_a_page, cases), strict=True))


@pytest.mark.parametrize(("error", "request_"), CASES)
class TestOneRequestFails:
    def test_in_a_cold_partition(self, outcomes, error, request_):
        """Everything lies there in order if publish() returned; behind a first request that failed lies nothing."""
        raised, found = outcomes[False, error, request_]
        if raised is None:
            assert found == WHOLE
        if request_ == "first" and error == BUMPS_EPOCH and raised is not None:
            assert found == WHOLE[: len(found)]  # the statistics showed the new epoch before the page was through
        elif request_ == "first":
            assert (raised is None, found) == ((True, WHOLE) if error in RETRIABLE else (False, []))

    def test_in_a_warm_partition(self, outcomes, error, request_):
        """Everything lies there, or publish() raised: this broker takes what one that knows us would refuse."""
        raised, found = outcomes[True, error, request_]
        assert found == [-1, *WHOLE] if raised is None else found[0] == -1

    @pytest.mark.parametrize("warm", [True, False])
    def test_is_what_it_is(self, outcomes, error, request_, warm):
        """A refusal is one in whatever guise the client raises it, and nothing else is."""
        raised, _ = outcomes[warm, error, request_]
        assert isinstance(raised, RefusedError) == (error in REFUSING)


class TestFirstMessages:
    def test_a_partition_that_is_away_holds_up_no_other(self, kafka):
        """A new producer costs one round trip more, not one for each partition."""
        kafka.lose_leader(TOPIC, 0)
        with publisher_to(kafka.settings) as publisher, pytest.raises(PublishError, match="given up"):
            publisher.publish(page() + page(1), lambda: kafka.numbers(TOPIC, 1) == WHOLE)
        assert kafka.numbers(TOPIC, 1) == WHOLE

    def test_after_an_idle_hour_the_first_goes_alone_again(self, kafka):
        """The broker may have forgotten the producer, and would take any request as its first."""
        now = [0.0]
        with publisher_to(kafka.settings, lambda: now[0]) as publisher:
            publisher.publish(numbered(TOPIC, [-1]))
            now[0] = KNOWN_SECONDS
            kafka.delay(20)
            kafka.answer(RETRIABLE["NOT_ENOUGH_REPLICAS"])
            publisher.publish(page())
        assert kafka.numbers(TOPIC, 0) == [-1, *WHOLE]

    def test_whoever_waits_an_hour_begins_again(self, kafka):
        """The broker that comes back may have forgotten the producer while its messages were under way."""
        now = [0.0]

        def an_hour_passes():
            now[0] = KNOWN_SECONDS
            return False

        kafka.answer(*[RETRIABLE["NOT_ENOUGH_REPLICAS"]] * 100)
        with publisher_to(kafka.settings, lambda: now[0]) as publisher, pytest.raises(PublishError, match="in 3600 s"):
            publisher.publish(page(), an_hour_passes)


class TestFailures:
    def test_no_offset_is_no_refusal(self, kafka):
        """Nobody knows whether the message lies there, so it is published again, and never becomes a dead letter."""
        kafka.answer(UNKNOWN["DUPLICATE_SEQUENCE_NUMBER"])
        with (
            publisher_to(kafka.settings) as publisher,
            pytest.raises(PublishError, match="without an offset") as raised,
        ):
            publisher.publish(page())
        assert not isinstance(raised.value, RefusedError)
