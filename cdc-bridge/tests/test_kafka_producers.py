"""Shards that share a producer, on librdkafka's mock cluster: what happens to one of them, and what to the others."""

import re
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from cdc_bridge import kafka_producer
from cdc_bridge.kafka_producer import WINDOW
from cdc_bridge.kafka_publisher import PRODUCERS, Producers, PublishError, RefusedError
from cdc_bridge.lineage import ShardKey
from murmuration_runtime.errors import StoreRefusedError
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

from .mock_kafka import MockKafka, numbered

TOPIC = "FollowChanged"
TOO_LARGE, NOT_ENOUGH_REPLICAS, TOPIC_REFUSED = 10, 19, 29
OUT_OF_ORDER, PRODUCER_EPOCH, UNKNOWN_PRODUCER = 45, 47, 59
MESSAGES = 5
WHOLE = [*range(MESSAGES)]


def page(partition, size=510_000):
    """Make messages of which no two share a request; the mock keeps 5 MB of a partition, which is two pages."""
    return numbered(TOPIC, WHOLE, size=size, partition=partition)


@pytest.fixture
def kafka():
    """Have three partitions; the second is led by another broker than the others."""
    with MockKafka(TOPIC, partitions=3, brokers=2) as cluster:
        for partition, broker in enumerate((1, 2, 1)):
            cluster.lead(TOPIC, partition, broker)
        yield cluster


@pytest.fixture
def producers(kafka):
    with Producers(kafka.settings) as all_of_them:
        yield all_of_them


@pytest.fixture
def two(producers):
    """Have publishers of two shards with one producer, which every partition knows."""
    with producers.publisher(ShardKey("followers", "arn", "one")) as one:
        neighbours = (producers.publisher(ShardKey("followers", "arn", f"shard-{n}")) for n in range(100))
        other = next(each for each in neighbours if each._producer is one._producer)  # noqa: SLF001
        with other:
            one.publish([message for partition in range(3) for message in numbered(TOPIC, [-1], partition=partition)])
            yield one, other


def error_of(batch):
    with pytest.raises(PublishError) as raised:
        batch.wait()
    return raised.value


class TestReadingAhead:
    def test_what_was_begun_first_lies_first(self, kafka, two):
        """Page behind page, though nobody waited in between."""
        one, _ = two
        begun = [one.begin(numbered(TOPIC, range(start, start + 700))) for start in (0, 700, 1400)]
        for batch in begun:
            batch.wait()
        assert kafka.numbers(TOPIC, 0) == [-1, *range(2100)]

    def test_behind_a_page_that_failed_nothing_is_begun(self, two):
        """Whoever reads ahead learns it from each page."""
        one, _ = two
        refused = one.begin([*page(0), *numbered(TOPIC, [9], size=1_100_000)])
        behind = one.begin(page(0))
        assert (refused.settled(), behind.settled()) == (True, True)
        assert isinstance(error_of(behind), RefusedError)


class TestAQueueThatIsFull:
    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        """Have producers that keep 64 KB, which another shard's messages may fill."""
        monkeypatch.setattr(kafka_producer, "QUEUE_KB", 64)

    def test_a_smaller_message_does_not_overtake_one_that_does_not_fit(self, kafka, two):
        """To a consumer's watermark the large one would be a repeat, and never count."""
        one, other = two
        kafka.take_down(1)
        filling = other.begin(numbered(TOPIC, range(100, 150), size=1000))
        begun = one.begin([*numbered(TOPIC, [1], size=30_000), *numbered(TOPIC, [2, 3])])
        beside = other.begin(numbered(TOPIC, [150]))
        kafka.bring_up(1)
        for batch in (filling, begun, beside):
            batch.wait()
        found = kafka.numbers(TOPIC, 0)
        assert [number for number in found if 0 < number < 100] == [1, 2, 3]
        assert [number for number in found if number >= 100] == [*range(100, 151)]


class TestWhatEndsAProducer:
    @pytest.fixture
    def waiting(self, kafka, two):
        """Have the other shard wait for a partition that is away."""
        kafka.take_down(2)
        return two[1].begin(page(1))

    def again(self, kafka, producers):
        """Publish both shards again, as from their checkpoints."""
        kafka.answer()
        kafka.delay(0)
        kafka.bring_up(2)
        for shard, partition in (("one", 0), ("other", 1)):
            with producers.publisher(ShardKey("followers", "arn", shard)) as publisher:
                publisher.publish(page(partition))
            assert kafka.numbers(TOPIC, partition)[-MESSAGES:] == WHOLE

    def test_a_refusal_is_that_of_the_shard_whose_message_it_was(self, kafka, producers, two, waiting):
        """All its shards begin again, but only one of them will look for the message."""
        kafka.answer(TOO_LARGE)
        with pytest.raises(RefusedError, match="too large"):
            two[0].publish(page(0))
        error = error_of(waiting)
        assert not isinstance(error, RefusedError)
        assert "too large" in str(error)
        self.again(kafka, producers)

    @pytest.mark.parametrize("code", [OUT_OF_ORDER, PRODUCER_EPOCH, TOPIC_REFUSED])
    def test_a_fatal_error_is_nobodys_refusal(self, kafka, producers, two, waiting, code):
        """It may pass when Kafka or its settings change, so no message becomes a dead letter."""
        kafka.answer(code)
        errors = [error_of(two[0].begin(page(0))), error_of(waiting)]
        assert not any(isinstance(error, RefusedError) for error in errors)
        if code != TOPIC_REFUSED:  # that one librdkafka remembers for a while
            self.again(kafka, producers)

    @pytest.mark.parametrize(
        "answers", [[UNKNOWN_PRODUCER] * MESSAGES, [NOT_ENOUGH_REPLICAS, *[OUT_OF_ORDER] * (MESSAGES - 1)]]
    )
    def test_an_epoch_that_librdkafka_raises_by_itself(self, kafka, producers, two, waiting, answers):
        """It goes on without a word; its statistics tell, if Kafka does not end it before, and nothing more counts."""
        kafka.delay(20)
        kafka.answer(*answers)
        two[0].begin(page(0))
        error = error_of(waiting)
        assert re.search("new epoch|OUT_OF_ORDER", str(error))
        assert not isinstance(error, RefusedError)
        assert str(error_of(two[0].begin(page(0)))) == str(error)
        self.again(kafka, producers)


class TestAnErrorThatNobodyForesaw:
    """It ends the producer: else all of its shards would wait for a thread that is gone."""

    @pytest.mark.parametrize("handed_before", [0, 1])
    def test_while_a_message_is_handed_over(self, kafka, producers, two, handed_before):
        """By the shard's own thread, or by the producer's when the first to a partition has been acknowledged."""
        one, other = two
        shared, real = one._producer, one._producer._producer  # noqa: SLF001
        answers = [real.produce] * handed_before

        def produce(*args, **kwargs):
            return (answers.pop() if answers else int)(*args, **kwargs)  # a TypeError

        shared._lanes.clear()  # noqa: SLF001 - so the first goes alone
        shared._producer = SimpleNamespace(  # noqa: SLF001
            produce=produce, poll=real.poll, purge=real.purge, flush=real.flush
        )
        assert "TypeError" in str(error_of(one.begin(numbered(TOPIC, [1, 2]))))
        assert "TypeError" in str(error_of(other.begin(numbered(TOPIC, [1]))))
        with producers.publisher(ShardKey("followers", "arn", "one")) as again:
            again.publish(numbered(TOPIC, [1, 2]))
        assert kafka.numbers(TOPIC, 0)[-2:] == [1, 2]


class TestNobodyElseIsHarmed:
    def test_by_a_message_that_is_too_large_for_the_contract(self, kafka, two):
        """It is refused before anything of its page is sent."""
        one, other = two
        kafka.take_down(2)
        waiting = other.begin(page(1))
        with pytest.raises(RefusedError, match=r"\[0\].*1100\d\d\d bytes"):
            one.publish([*page(0), *numbered(TOPIC, [9], size=1_100_000)])
        kafka.bring_up(2)
        waiting.wait()
        assert kafka.numbers(TOPIC, 0) == [-1]
        assert kafka.numbers(TOPIC, 1) == [-1, *WHOLE]

    def test_by_a_message_that_is_refused_alone(self, kafka, two):
        """It goes through a producer with nothing else under way."""
        one, other = two
        kafka.take_down(2)
        waiting = other.begin(page(1))
        kafka.answer(TOO_LARGE)
        with pytest.raises(RefusedError):
            one.publish_alone(page(0)[0])
        one.publish_alone(page(0)[1])
        one.publish(page(0)[2:])
        kafka.bring_up(2)
        waiting.wait()
        assert kafka.numbers(TOPIC, 0) == [-1, *WHOLE[1:]]

    def test_by_a_shard_that_leaves(self, kafka, two):
        """What librdkafka does not have yet is withdrawn; of the rest it is known when it has arrived."""
        one, other = two
        kafka.take_down(2)
        leaving, staying = one.begin(numbered(TOPIC, range(2 * WINDOW), partition=1)), other.begin(page(1))
        one.withdraw()
        assert "withdrawn" in str(error_of(leaving))
        sender = leaving.sender
        assert sender.under_way == WINDOW
        other.publish(page(2))
        kafka.bring_up(2)
        staying.wait()
        eventually(lambda: sender.under_way == 0)
        assert kafka.numbers(TOPIC, 1) == [-1, *range(WINDOW), *WHOLE]


def test_three_hundred_shards_share_a_few_producers(kafka, producers):
    """A producer has threads and buffers of its own."""
    with ExitStack() as stack:
        publishers = [
            stack.enter_context(producers.publisher(ShardKey("followers", "arn", f"shard-{number}")))
            for number in range(300)
        ]
        for batch in [publisher.begin(numbered(TOPIC, [number])) for number, publisher in enumerate(publishers)]:
            batch.wait()
        assert [thread.name for thread in threading.enumerate()].count("kafka-producer") <= PRODUCERS
    assert sorted(kafka.numbers(TOPIC, 0)) == [*range(300)]


def test_without_a_token_no_producer_is_made_and_with_one_it_is():
    """The shard's reader is told what to correct, is not ready, and asks again."""
    port = free_port()
    kafka = KafkaSettings(
        kafka_bootstrap_servers="127.0.0.1:1",
        kafka_security_protocol="SASL_PLAINTEXT",
        kafka_sasl_mechanism="OAUTHBEARER",
        kafka_oauth_client_id="bridge",
        kafka_oauth_client_secret="secret",
        kafka_oauth_token_url=f"http://127.0.0.1:{port}/token",
    )
    shard = ShardKey("followers", "arn", "one")
    with Producers(kafka) as producers:
        for _ in range(2):
            with pytest.raises(StoreRefusedError, match=r"KAFKA_OAUTH_TOKEN_URL .* does not answer"):
                producers.publisher(shard)
        with issuer(port):
            assert producers.publisher(shard)


@contextmanager
def issuer(port):
    """Give everybody a token."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"access_token": "abc", "expires_in": 300}')

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield
        server.shutdown()
