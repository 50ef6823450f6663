"""Redis in two kinds: a single one, and a cluster."""

from contextlib import closing

import pytest

from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_testkit.redis_nodes import redis_cluster, redis_node


@pytest.fixture(scope="module", params=["single", "cluster"])
def store(request):
    with (redis_node if request.param == "single" else redis_cluster)() as store:
        yield store


@pytest.fixture
def nodes(store):
    with closing(connect(store.url)) as nodes:
        for node in getattr(store, "nodes", [store]):
            node.redis.flushall()
        yield nodes


@pytest.fixture
def writer(nodes):
    return SuggestedWriter(nodes)


@pytest.fixture
def reader(nodes):
    return SuggestedReader(nodes)
