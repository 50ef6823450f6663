"""Faults that were known and are mended: inflight*.py, natural*.py, offs.py and masked.py.

More of them: test_kafka_publisher_cold.py.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cdc_bridge.kafka_publisher import PublishError, RefusedError

from .mock_kafka import MockKafka, numbered
from .publishers import publisher_to

TOPIC = "FollowChanged"
NOT_LEADER, TOO_LARGE, NOT_ENOUGH_REPLICAS = 6, 10, 19


@pytest.mark.parametrize("refusal", [NOT_ENOUGH_REPLICAS, NOT_LEADER])
def test_inflight_py_what_publish_returned_for_is_there(refusal):
    """Though the first request to a partition is refused, and later ones are under way."""
    with MockKafka(TOPIC, partitions=2) as kafka, publisher_to(kafka.settings) as publisher:
        publisher.publish(numbered(TOPIC, [-1], partition=1))
        kafka.delay(20)
        kafka.answer(refusal)
        publisher.publish(numbered(TOPIC, range(5), size=600_000))
        assert kafka.numbers(TOPIC, 0) == [*range(5)]


def test_natural_py_every_partition_may_refuse_its_first_request():
    """A page over twelve partitions, most of it for one of them."""
    with MockKafka(TOPIC, partitions=12) as kafka, publisher_to(kafka.settings) as publisher:
        publisher.publish(numbered(TOPIC, [-1]))
        kafka.delay(10)
        kafka.answer(*[NOT_ENOUGH_REPLICAS] * 11)
        page = [
            message
            for n in range(1000)
            for message in numbered(TOPIC, [n], size=180, partition=0 if n % 10 else n // 10 % 12)
        ]
        publisher.publish(page)
        there = [number for partition in range(12) for number in kafka.numbers(TOPIC, partition)]
        assert sorted(there) == [*range(-1, 1000)]


@pytest.mark.parametrize("refusal", [NOT_ENOUGH_REPLICAS, TOO_LARGE])
def test_offs_py_a_watermark_drops_no_retry(refusal):
    """Whether publish() returned or has to be called again: what a consumer has not seen lies behind nothing later."""
    page = numbered(TOPIC, range(5), size=600_000)
    with MockKafka(TOPIC, partitions=2) as kafka:
        kafka.delay(20)
        kafka.answer(refusal)
        for _ in range(2):
            with publisher_to(kafka.settings) as publisher:
                try:
                    publisher.publish(page)
                except PublishError:
                    continue
                break
        counted, watermark = [], -1
        for number in kafka.numbers(TOPIC, 0):
            if number > watermark:
                counted.append(number)
                watermark = number
        assert counted == [*range(5)]


def test_masked_py_a_refusal_is_one_however_it_comes_out_of_the_client():
    """One that comes while messages are still being queued is a fatal error of produce(), or a SystemError."""

    def publish_what_is_refused(_):
        with MockKafka(TOPIC, partitions=2) as kafka, publisher_to(kafka.settings) as publisher:
            publisher.publish(numbered(TOPIC, [-1]))
            kafka.answer(*[TOO_LARGE] * 100)
            with pytest.raises(RefusedError, match="too large"):
                publisher.publish(numbered(TOPIC, range(5000), size=200))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(publish_what_is_refused, range(8)))
