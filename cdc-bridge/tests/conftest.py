"""The real parts, for the tests marked stack: where they are comes from the services' own environment variables."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import boto3
import pytest
from confluent_kafka import Consumer, TopicPartition

from cdc_bridge.stream import Streams
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

ROOT = Path(__file__).parents[2]
TABLE_OF_ONE = {
    "AttributeDefinitions": [{"AttributeName": "followee_id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "followee_id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


@pytest.fixture(scope="session")
def dynamodb():
    assert os.environ["AWS_ENDPOINT_URL_DYNAMODB"]  # or boto3 would go and ask AWS
    client = boto3.client("dynamodb")
    yield client
    client.close()


@pytest.fixture(scope="session")
def streams_client():
    assert os.environ["AWS_ENDPOINT_URL_DYNAMODB_STREAMS"]
    client = boto3.client("dynamodbstreams")
    yield client
    client.close()


@pytest.fixture
def streams(dynamodb, streams_client):
    return Streams(dynamodb, streams_client)


@pytest.fixture(scope="session")
def new_tables(dynamodb):
    """Make the system's tables under a prefix, as the deployment does; gone at the end."""
    prefixes = []

    def make(prefix):
        prefixes.append(prefix)
        environment = os.environ | {"TABLE_PREFIX": prefix}
        subprocess.run([sys.executable, str(ROOT / "deploy" / "tables.py")], env=environment, check=True)  # noqa: S603

    yield make
    names = [name for page in dynamodb.get_paginator("list_tables").paginate() for name in page["TableNames"]]
    for name in names:
        if name.startswith(tuple(prefixes) or "\0"):
            dynamodb.delete_table(TableName=name)


@pytest.fixture(scope="session")
def table_prefix(new_tables):
    """The prefix of tables that only these tests use."""
    prefix = f"bridge-{uuid.uuid4().hex[:8]}-"
    new_tables(prefix)
    return prefix


def _streamed_table(dynamodb):
    name = f"bridge-{uuid.uuid4().hex}"
    dynamodb.create_table(TableName=name, **TABLE_OF_ONE)
    yield name
    dynamodb.delete_table(TableName=name)


@pytest.fixture
def followers(dynamodb):
    """Make a table of its own, with a stream, for a test that spoils it."""
    yield from _streamed_table(dynamodb)


@pytest.fixture
def other(dynamodb):
    """And one beside it."""
    yield from _streamed_table(dynamodb)


class Process:
    """A bridge, started as the deployment starts it."""

    def __init__(self, log, environment):
        self.port = free_port()
        self._log = log
        own = {"HOST": "127.0.0.1", "PORT": str(self.port), "LEASE_SECONDS": "2"}
        self._environment = os.environ | own | environment
        with log.open("w") as stderr:
            self._child = subprocess.Popen([sys.executable, "-m", "cdc_bridge"], env=self._environment, stderr=stderr)

    def command(self, *words):
        """Do what an operator does beside it; return what was said."""
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "cdc_bridge", *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def get(self, path):
        """Return status and body; status 0 while nobody answers, which a dead process never will."""
        assert self._child.poll() is None, self._log.read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def until_ready(self):
        eventually(lambda: self.get("/readyz")[0] == 200)
        return self

    def end(self, number=signal.SIGTERM):
        """Return the exit code."""
        self._child.send_signal(number)
        return self._child.wait(20)

    def log(self):
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def close(self):
        if self._child.poll() is None:
            self.end()


@pytest.fixture
def start(tmp_path):
    """Start bridges that end with the test."""
    started = []

    def one(**environment):
        started.append(Process(tmp_path / f"bridge-{len(started)}.log", environment))
        return started[-1]

    yield one
    for process in started:
        process.close()


class Tap:
    """What comes to the topics from now on and has one of our ids in its headers."""

    def __init__(self, topics, consumer):
        self._consumer = consumer
        self.messages = []
        ends = []
        for topic in topics:
            for partition in consumer.list_topics(topic, 10).topics[topic].partitions:
                end = consumer.get_watermark_offsets(TopicPartition(topic, partition), 10)[1]
                ends.append(TopicPartition(topic, partition, end))
        consumer.assign(ends)

    def until(self, enough, ours):
        """Collect our messages until there are enough of them."""

        def look():
            for message in self._consumer.consume(500, 0.05):
                assert message.error() is None
                if ours(dict(message.headers())):
                    self.messages.append(message)
            return enough(self.messages)

        eventually(look)
        return self.messages


@pytest.fixture
def tap():
    """Open taps that close with the test."""
    consumers = []

    def open_tap(*topics):
        consumers.append(
            Consumer(
                {
                    "bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"],
                    "group.id": uuid.uuid4().hex,
                    "enable.auto.commit": False,
                }
            )
        )
        return Tap(topics, consumers[-1])

    yield open_tap
    for consumer in consumers:
        consumer.close()
