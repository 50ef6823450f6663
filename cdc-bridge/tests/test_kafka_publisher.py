"""On a real broker: all of a batch in its order, or an error and nothing behind the first that is missing."""

import pytest

from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.message import Message
from murmuration_runtime.kafka_connection import KafkaSettings

from .publishers import LIMIT, arrived, publisher_to

NOBODY = KafkaSettings(kafka_bootstrap_servers="127.0.0.1:1")


def numbered(topic, numbers, value=b""):
    return [Message(topic, n % 2, b"key", value, [("n", str(n).encode())]) for n in numbers]


@pytest.mark.stack
class TestPublisher:
    def test_a_batch_is_there_when_publish_returns(self, topic):
        """In the partitions that were asked for, in order, batch behind batch."""
        with publisher_to(KafkaSettings()) as publisher:
            publisher.publish(numbered(topic, range(500)))
            assert arrived(topic) == {0: [*range(0, 500, 2)], 1: [*range(1, 500, 2)]}
            publisher.publish(numbered(topic, range(500, 502)))
        assert arrived(topic) == {0: [*range(0, 501, 2)], 1: [*range(1, 502, 2)]}

    def test_nothing_lies_behind_a_refused_message(self, topic):
        """The guarantee, not luck: without it all the others would arrive. Two never share a request."""
        batch = numbered(topic, range(20), value=b"x" * 600_000)
        batch[10] = batch[10]._replace(value=b"x" * (LIMIT + 10_000))
        with publisher_to(KafkaSettings()) as publisher, pytest.raises(RefusedError, match="too large"):
            publisher.publish(batch)
        found = arrived(topic)
        assert found[0] == [0, 2, 4, 6, 8][: len(found[0])]
        assert found[1] == [*range(1, 20, 2)][: len(found[1])]

    def test_an_empty_batch_is_done_at_once(self):
        """A page may hold no event at all."""
        with publisher_to(KafkaSettings()) as publisher:
            publisher.publish([])

    def test_what_the_client_itself_refuses_is_refused_too(self, topic):
        """Larger than a producer ever sends; nothing of it waits in a queue."""
        with publisher_to(KafkaSettings()) as publisher, pytest.raises(RefusedError, match=r"\[1\].*too large"):
            publisher.publish(numbered(topic, [1], value=b"x" * 1_100_000))


def test_giving_up_ends_the_wait_for_a_broker_that_is_away():
    """Records never time out by themselves, so SIGTERM and a lost lease must be able to end it."""
    asked = []
    with publisher_to(NOBODY) as publisher, pytest.raises(PublishError, match="given up with 0 of 1"):
        publisher.publish(numbered("topic", [0]), lambda: asked.append(1) or len(asked) > 2)
