"""The real parts, for the tests marked stack: where they are comes from the services' own environment variables."""

import os
import subprocess
import sys
import uuid
from contextlib import ExitStack

import boto3
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from cdc_bridge.dynamo_streams import Streams
from murmuration_testkit import REPOSITORY
from murmuration_testkit.topics import Tap
from murmuration_testkit.waiting import eventually

from ..drills.bridges import Bridge
from .publishers import LIMIT

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
def change_tables():
    """Do a step of deploy/tables.py to the tables under a prefix."""

    def change(prefix, *step):
        command = [sys.executable, str(REPOSITORY / "deploy/tables.py"), *step]
        subprocess.run(command, env=os.environ | {"TABLE_PREFIX": prefix}, check=True)  # noqa: S603

    return change


@pytest.fixture(scope="session")
def new_tables(dynamodb, change_tables):
    """Make the system's tables under a prefix, as the deployment does; gone at the end."""
    prefixes = []

    def make(prefix):
        prefixes.append(prefix)
        change_tables(prefix)

    yield make
    names = [name for page in dynamodb.get_paginator("list_tables").paginate() for name in page["TableNames"]]
    for name in names:
        if name.startswith(tuple(prefixes) or "\0"):
            dynamodb.delete_table(TableName=name)


@pytest.fixture
def own_prefix(new_tables):
    """The prefix of tables that only this test uses."""
    prefix = f"bridge-{uuid.uuid4().hex[:8]}-"
    new_tables(prefix)
    return prefix


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


@pytest.fixture
def start(tmp_path):
    """Start bridges that end with the test."""
    started = []

    def one(**environment):
        started.append(Bridge(tmp_path / f"bridge-{len(started)}.log", **environment))
        return started[-1].start()

    yield one
    for bridge in started:
        bridge.end()


class OurTap(Tap):
    """Keeps what has one of our ids in its headers."""

    def __init__(self, *topics):
        super().__init__(*topics)
        self._found = []

    def until(self, enough, ours):
        """Collect our messages until there are enough of them, those of earlier waits included."""

        def look():
            self._found.extend(message for message in self.read(0.05, 500) if ours(dict(message.headers())))
            return enough(self._found)

        eventually(look)
        return self._found


@pytest.fixture
def tap():
    """Open taps that close with the test."""
    with ExitStack() as stack:

        def open_tap(*topics):
            opened = OurTap(*topics)
            stack.callback(opened.close)
            return opened

        yield open_tap


@pytest.fixture
def topic():
    """Make a topic of two partitions, with a limit that a test can break."""
    name = f"bridge-{uuid.uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
    new = NewTopic(name, 2, 1, config={"max.message.bytes": str(LIMIT)})
    admin.create_topics([new])[name].result(10)
    yield name
    admin.delete_topics([name])[name].result(10)
