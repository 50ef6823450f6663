"""Redis in three kinds: the fake, the stack's, and a cluster."""

import os
from contextlib import closing

import pytest

from contracts.ids import BITS_BELOW_MS, EPOCH_MS
from murmuration_testkit.redis_nodes import redis_cluster
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.writer import TimelineWriter, connect

FIRST = 1_700_000_000_000_000_000
FIRST_AT = ((FIRST >> BITS_BELOW_MS) + EPOCH_MS) / 1000  # seconds
REAL = [
    pytest.param("single", marks=pytest.mark.stack),
    pytest.param("cluster", marks=pytest.mark.stack(shared=False)),
]


def snowflake(n):
    """The id of the tweet whose place in time is n."""
    return str(FIRST + n)


def history(redis):
    """What a node's scripts call its history."""
    info = redis.info("everything")
    return info["run_id"][:8] + str(info["master_replid2"])[:8].ljust(8, "0")  # redis-py takes zeros for a number


@pytest.fixture(scope="session")
def cluster():
    with redis_cluster() as cluster:
        yield cluster


@pytest.fixture
def kind(request):
    """On real Redis, unless a test says otherwise."""
    return request.param


@pytest.fixture
def nodes(kind, request):
    if kind == "fake":
        yield FakeNodes()
        return
    url = os.environ["REDIS_URL"] if kind == "single" else request.getfixturevalue("cluster").url
    with closing(connect(url)) as nodes:
        yield nodes


@pytest.fixture
def redis(nodes):
    return nodes.client


@pytest.fixture
def writer(nodes):
    return TimelineWriter(nodes)


@pytest.fixture
def reader(nodes):
    return TimelineReader(nodes, now=lambda: FIRST_AT)
