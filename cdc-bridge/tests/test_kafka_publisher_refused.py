"""A real broker, and a proxy that refuses chosen requests: what was reported lies in the log, in order."""

import pytest

from cdc_bridge.kafka_publisher import PublishError
from murmuration_runtime.kafka_connection import KafkaSettings

from .mock_kafka import numbered
from .publishers import arrived, publisher_to
from .refusing_proxy import RefusingProxy

WHOLE = [*range(5)]


@pytest.fixture
def proxy():
    with RefusingProxy() as between:
        yield between


@pytest.mark.stack
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("refused", [(0,), (1,), (4,), (0, 5), (0, 5, 6)])
def test_what_publish_returned_for_is_there_in_order(proxy, topic, refused, warm):
    """Requests 5 and 6 are those of librdkafka's new epoch, if it has begun one: the broker takes only its first."""
    page = numbered(topic, WHOLE, size=600_000)
    before = [-1]
    with publisher_to(KafkaSettings(kafka_bootstrap_servers=proxy.address)) as publisher:
        publisher.publish(numbered(topic, before, partition=0 if warm else 1))
        proxy.refuse(*refused)
        try:
            publisher.publish(page)
        except PublishError as error:
            assert "new epoch" in str(error)  # noqa: PT017 - then a shard begins again, and nothing is missing
        else:
            assert arrived(topic)[0] == before * warm + WHOLE
    assert proxy.refused >= 1
    assert arrived(topic)[0] == (before * warm + WHOLE)[: len(arrived(topic)[0])]
