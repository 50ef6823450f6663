"""A whole worker on a real Kafka, in a process and on a topic of its own: how it begins, works and ends."""

import json
import signal

import pytest

from contracts.examples import examples
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import pause, resume
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually
from murmuration_worker import exits

pytestmark = pytest.mark.stack


def test_events_are_handled_in_order_and_a_sigterm_ends_with_what_is_done(kafka, start):
    """The next worker begins behind it."""
    kafka.publish(1, 2)
    worker = start()
    assert (worker.line(), worker.line()) == ("0 e-1", "1 e-2")
    eventually(worker.waiting_for, [], within=60)
    worker.signal(signal.SIGTERM)
    assert worker.ended()[0] == 0
    kafka.publish(3)
    assert start().line() == "2 e-3"


@pytest.mark.parametrize("kafka", ["UserChanged"], indirect=True)
def test_a_compacted_topic_has_holes_and_ends_of_keys(kafka, start):
    """Both are handled, and what was acknowledged stays so behind a hole."""
    states = [example.event for example in examples(kafka.topic)]
    kafka.publish_with_holes(states[0], states[1], None)
    worker = start()
    assert [worker.line() for _ in range(3)] == [
        f"0 {states[0].event_id}",
        f"2 {states[1].event_id}",
        f"4 {states[1].event_id} is gone",
    ]
    topics = KafkaTopics(KafkaSettings(), [kafka.topic])
    eventually(lambda: topics.committed(worker.group)[kafka.topic.name, 5], 5, within=60)
    worker.kill()
    kafka.publish_with_holes(states[2])
    assert start().line() == f"6 {states[2].event_id}"


def test_a_hole_in_any_other_topic_ends_the_worker(kafka, start):
    """Faust may have lost what should have come; nothing behind it is acknowledged."""
    kafka.publish_with_holes(*(example.event for example in examples(kafka.topic)[:2]))
    code, log = start().ended()
    assert code == exits.UNFORESEEN, log
    assert "offset 2 came, and 1 should have come before it" in log


def test_a_sigterm_ends_a_worker_that_still_waits_for_kafka(start, monkeypatch):
    """Also where it is a container's first process, which no signal ends that it does not handle."""
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", f"127.0.0.1:{free_port()}")
    worker = start()
    eventually(lambda: any(reason.startswith("kafka: ") for reason in worker.waiting_for()), within=60)
    worker.signal(signal.SIGTERM)
    code, log = worker.ended()
    assert code == 0, log


def test_an_event_whose_handler_failed_is_not_acknowledged(kafka, start):
    """The process ends, and the next one reads it again."""
    kafka.publish(1)
    code, log = start("fail").ended()
    assert code == exits.UNFORESEEN, log
    assert "a batch was not handled" in log
    assert start().line() == "0 e-1"


@pytest.mark.parametrize("order", ["by key", "strictly"])
def test_a_worker_is_ended_when_one_partition_hangs_though_others_go_on(kafka, start, order):
    """Nothing of that partition is acknowledged, and the log names it; by key its other messages go on, too."""
    kafka.publish(1)
    worker = start(f"hang {order}")
    while worker.lives():
        kafka.publish(2)
        kafka.publish(2, partition=6)
        worker.lives(within=0.2)
    code, log = worker.ended()
    assert code == exits.STUCK, log
    (line,) = (json.loads(line) for line in log.splitlines() if "no progress in spite of lag" in line)
    assert f"{kafka.topic.name}/5" in line["partitions"]
    topics = KafkaTopics(KafkaSettings(), [kafka.topic])
    committed = topics.committed(worker.group)
    assert committed.pop((kafka.topic.name, 6)) > 0
    assert set(committed.values()) == {0}


def test_a_kafka_that_goes_away_is_a_metric_and_no_reason_to_be_unready_or_to_end(kafka, start):
    """All replicas share it; what comes afterwards is handled."""
    worker = start()
    eventually(worker.waiting_for, [], within=60)
    eventually(lambda: worker.metric('store_up{store="kafka"}'), 1.0)
    pause("kafka")
    try:
        eventually(lambda: worker.metric('store_up{store="kafka"}'), 0.0, within=60)
        assert worker.waiting_for() == []
    finally:
        resume("kafka")
    kafka.publish(1)
    assert worker.line() == "0 e-1"


@pytest.mark.parametrize("partitions", [12, 3])
def test_a_topic_made_again_ends_the_worker(kafka, start, partitions):
    """With as many partitions or with fewer; the log says how to make up for what went with the old topic."""
    worker = start()
    eventually(worker.waiting_for, [], within=60)
    kafka.delete()
    eventually(lambda: kafka.topic.name not in admin().list_topics().topics)
    kafka.create(partitions)
    code, log = worker.ended()
    assert code == exits.OTHER_TOPIC, log
    assert "run `mend`" in log
    again = start()
    if partitions == kafka.topic.partitions:
        eventually(again.waiting_for, [], within=60)
    else:
        eventually(lambda: f"topic {kafka.topic.name} has 3 partitions" in str(again.waiting_for()), within=60)
