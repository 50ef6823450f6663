"""Faults that were known and are mended: inflight*.py, natural*.py, offs.py and masked.py.

More of them: test_kafka_publisher_cold.py.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cdc_bridge.dynamo_leases import LeaseTable
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.gaps import Policy
from cdc_bridge.kafka_publisher import PublishError, RefusedError
from cdc_bridge.lineage import Row, ShardKey, State
from cdc_bridge.shard_reader import ShardReader
from contracts import TOPICS
from contracts.examples import codec
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

from .memory import AtOnce, MemoryKafka, hold
from .mock_kafka import MockKafka, numbered
from .publishers import publisher_to
from .records import edge

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


def test_a_tip_claims_nothing_that_the_stream_has_not_shown():
    """AWS answers empty pages for no reason: what lies behind one is not published, however old it is."""
    aws = UnkindAws()
    stream = aws.stream("followers")
    aws.put("followers", edge())
    committed_at = aws.ms()
    aws.sleep(3600)
    dynamodb, leases = aws.client(), LeaseTable(aws.client(), "")
    streams = Streams(dynamodb, aws.client("dynamodbstreams"))
    shard = ShardKey("followers", stream.arn, stream.open_shards()[0])
    leases.note(stream.arn, Row(shard.shard_id, State.OPENED, since=committed_at - 1, tip_at=committed_at - 1))
    lease = hold(leases, shard.stream_arn, shard.shard_id, aws.ms)
    reader = ShardReader(
        shard,
        lease,
        {name: codec(topic) for name, topic in TOPICS.items()},
        lambda: streams.open(shard.stream_arn, shard.shard_id),
        MemoryKafka().publisher,
        AtOnce(),
        Policy.FAIL,
        aws.ms,
        aws.ms,
    )
    aws.order(Unkindness.EMPTY_PAGE)
    reader.step()
    assert aws.occurred[Unkindness.EMPTY_PAGE] == 1
    assert lease.progress.tip_at <= committed_at
