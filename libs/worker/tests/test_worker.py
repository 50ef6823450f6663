"""A whole worker on a real Kafka, in a process and on a topic of its own: how it begins, works and ends."""

import json
import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import urllib3
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from contracts import TOPICS, Codec, FollowChanged, Source
from contracts.registry import Registry
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import pause, resume
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually
from murmuration_worker import exits

pytestmark = pytest.mark.stack
SCRIPT = str(Path(__file__).with_name("small_worker.py"))
NAMES = "murmuration-worker murmuration-runtime murmuration-testkit event-contracts pytest hypothesis ruff mypy"
GROUPS = iter(NAMES.split())  # a service is an installed distribution, and each test has a group of its own


class Kafka:
    """A topic of the test's own, and what is published there."""

    def __init__(self):
        self.topic = replace(TOPICS["FollowChanged"], name=f"test-{uuid.uuid4().hex}")
        self._admin = admin()
        registry = Registry(os.environ["SCHEMA_REGISTRY_URL"])
        number = registry.register(self.topic.subject, self.topic.latest.schema)
        self._codec = Codec(self.topic, {version.number: number for version in self.topic.versions}, registry.schema)
        self._producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})

    def create(self, partitions):
        names = {self.topic.name: partitions, self.topic.dlq: 1}
        created = self._admin.create_topics([NewTopic(name, count, 1) for name, count in names.items()])
        for future in created.values():
            future.result(30)

    def delete(self):
        for future in self._admin.delete_topics([self.topic.name, self.topic.dlq]).values():
            future.result(30)

    def publish(self, *numbers, partition=5):
        """Publish events into one partition."""
        for number in numbers:
            event = FollowChanged(f"e-{number}", Source("shard", number), "alice", "bob", True, None)
            self._producer.produce(self.topic.name, self._codec.encode(event), b"bob", partition)
        assert self._producer.flush(30) == 0


class Worker:
    """The process."""

    def __init__(self, group, topic, does):
        self.group = group
        self.port = free_port()
        self._process = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, SCRIPT, group, topic.name, does],
            env={**os.environ, "ADMIN_PORT": str(self.port), "STALL_SECONDS": "3" if does == "hang" else "90"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def waiting_for(self):
        try:
            answer = urllib3.request("GET", f"http://127.0.0.1:{self.port}/readyz", retries=False, timeout=5)
        except urllib3.exceptions.HTTPError as error:
            return [str(error)]
        return answer.json()["waiting_for"]

    def metric(self, name):
        lines = urllib3.request("GET", f"http://127.0.0.1:{self.port}/metrics", timeout=5).data.decode().splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(f"{name} ")), None)

    def lives(self, within=0.0):
        """Wait so long for its end, and say whether it still lives."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within)
        return self._process.poll() is None

    def signal(self, number):
        self._process.send_signal(number)

    def line(self):
        """Return what was printed next; fail with the log if the process has ended instead."""
        line = self._process.stdout.readline().strip()
        assert line, self.ended()
        return line

    def ended(self):
        """Return the exit code and what was logged."""
        _, log = self._process.communicate(timeout=60)
        return self._process.returncode, log

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def kafka():
    kafka = Kafka()
    kafka.create(kafka.topic.partitions)
    yield kafka
    kafka.delete()


@pytest.fixture
def start(kafka):
    """Start workers of one group."""
    group, workers = next(GROUPS), []

    def start_one(does="work"):
        workers.append(Worker(group, kafka.topic, does))
        return workers[-1]

    yield start_one
    for worker in workers:
        worker.kill()


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


def test_a_worker_is_ended_when_one_partition_hangs_though_others_go_on(kafka, start):
    """Nothing of that partition is acknowledged, and the log names it."""
    kafka.publish(1)
    worker = start("hang")
    while worker.lives():
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
