"""Kafka's settings of a topic are held to its contract while the worker runs."""

from dataclasses import replace

import pytest

from contracts import TOPICS
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.topics import largest_batch
from murmuration_testkit.waiting import eventually
from murmuration_worker.metrics import SETTING_DIFFERS
from murmuration_worker.topic_settings import TopicSettings

PLACE = "FollowChanged", "segment.ms"


def alarms():
    return {tuple(sample.labels.values()) for metric in SETTING_DIFFERS.collect() for sample in metric.samples}


def test_a_difference_is_an_alarm_while_it_lasts_and_a_line_when_it_begins(caplog):
    """And another line when it changes."""
    answers = iter([{PLACE: "7 and not 1"}, {PLACE: "7 and not 1"}, {PLACE: "8 and not 1"}, {}])
    settings = TopicSettings(lambda: next(answers))
    for _ in range(3):
        settings.look()
        assert alarms() == {PLACE}
    settings.look()
    assert alarms() == set()
    told = [(record.topic, record.setting, record.reason) for record in caplog.records]
    assert told == [(*PLACE, f"Kafka has {value} and not 1") for value in (7, 8)]


@pytest.mark.stack
def test_what_a_real_broker_has_is_seen():
    """The stack's topics are as their contracts say, until somebody changes one; or a contract."""
    topics = KafkaTopics(KafkaSettings(), TOPICS.values())
    ours = {"TweetDeleted"}  # other tests may be changing the others

    def differ(topics):
        return {place: has for place, has in topics.differing().items() if place[0] in ours}

    eventually(lambda: differ(topics), {})
    with largest_batch("TweetDeleted", 100_000):
        eventually(lambda: differ(topics), {("TweetDeleted", "max.message.bytes"): "100000 and not 1048588"})
    longer = replace(TOPICS["TweetDeleted"], segment_days=2)
    eventually(
        lambda: differ(KafkaTopics(KafkaSettings(), [longer])),
        {("TweetDeleted", "segment.ms"): "86400000 and not 172800000"},
    )
