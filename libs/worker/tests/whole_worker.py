"""A whole worker in a process of its own, on a topic of its own."""

import os
import subprocess
import sys
import threading
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import urllib3
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from contracts import TOPICS, Codec, FollowChanged, Source
from contracts.registry import Registry
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.ports import free_port
from murmuration_testkit.topics import admin

SILENT_S = 60
SCRIPT = str(Path(__file__).with_name("small_worker.py"))


class Kafka:
    """A topic of the test's own, for events of one kind, and what is published there."""

    def __init__(self, kind="FollowChanged"):
        self.kind = kind
        self.topic = replace(TOPICS[kind], name=f"test-{uuid.uuid4().hex}")
        self._admin = admin()
        registry = Registry(os.environ["SCHEMA_REGISTRY_URL"])
        ids = {each.number: registry.register(self.topic.subject, each.schema) for each in self.topic.versions}
        self._codec = Codec(self.topic, ids, registry.schema)
        servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
        # Without idempotence a first request that comes before the partition's leader is tried again behind the second.
        self._producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})

    def create(self, partitions):
        names = {self.topic.name: partitions, self.topic.dlq: 1}
        created = self._admin.create_topics([NewTopic(name, count, 1) for name, count in names.items()])
        for future in created.values():
            future.result(30)

    def delete(self):
        for future in self._admin.delete_topics([self.topic.name, self.topic.dlq]).values():
            future.result(30)

    def publish(self, *numbers, partition=5):
        """Publish events into one partition, each with a key of its own."""
        for number in numbers:
            event = FollowChanged(f"e-{number}", Source("shard", number), "alice", "bob", True, None)
            self._producer.produce(self.topic.name, self._codec.encode(event), str(number).encode(), partition)
        assert self._producer.flush(30) == 0

    def publish_with_holes(self, *events):
        """Publish each in a transaction of its own, whose end takes an offset that nobody ever sees; None is an end."""
        producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "transactional.id": "holes"})
        producer.init_transactions(30)
        last = None
        for event in events:
            producer.begin_transaction()
            last = event or last
            key, value = self.topic.key(last).encode(), event and self._codec.encode(event)
            producer.produce(self.topic.name, value, key, 5, headers=self.topic.headers(last))
            producer.commit_transaction(30)

    def give_up(self, before, partition=5):
        """Lose what lies before this offset, as retention does."""
        where = TopicPartition(self.topic.name, partition, before)
        for future in self._admin.delete_records([where]).values():
            future.result(30)

    def committed(self, group, partition=5):
        """Return how far a group has acknowledged a partition."""
        place = self.topic.name, partition
        return KafkaTopics(KafkaSettings(), [self.topic]).committed(group, [place])[place]


class Worker:
    """The process."""

    def __init__(self, group, kafka, does):
        self.group = group
        self.port = free_port()
        self._process = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, SCRIPT, group, kafka.kind, kafka.topic.name, does],
            env={**os.environ, "ADMIN_PORT": str(self.port), "STALL_SECONDS": "3" if "hang" in does else "90"},
            stdin=subprocess.PIPE,
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
        """Return what was printed next; fail with the log if the process has ended instead, or prints nothing."""
        silent = threading.Timer(SILENT_S, self._process.kill)
        silent.start()
        line = self._process.stdout.readline().strip()
        silent.cancel()
        assert line, self.ended()
        return line

    def lines(self, count):
        """Return so many lines."""
        return [self.line() for _ in range(count)]

    def free(self):
        """Let go on what was held up."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def ended(self):
        """Return the exit code and what was logged."""
        _, log = self._process.communicate(timeout=60)
        return self._process.returncode, log

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
