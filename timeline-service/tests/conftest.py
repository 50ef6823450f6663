"""The application on a store in memory, and an issuer of tokens that lives as long as the test run."""

import pytest

from murmuration_testkit.tokens import Issuer
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet
from timeline_service.app import Rows, create_app
from timeline_service.settings import Settings

from .memory import MemoryDatabase

ISSUER = Issuer()
bearer = ISSUER.bearer
SETTINGS = Settings(**ISSUER.edge_settings, redis_url="redis://unused")


def tweet(n, author="bob"):
    """A tweet whose place in time is n."""
    return Tweet.written(str(1_700_000_000_000_000_000 + n), author, f"tweet {n}", 1_700_000_000_000 + n)


def client(nodes, database, keys=ISSUER):
    """The application, as a client calls it, on stores in memory."""
    rows = Rows(*[database] * 6)
    return create_app(SETTINGS, cache=TimelineReader(nodes), rows=rows, keys=keys).test_client()


@pytest.fixture
def nodes():
    return FakeNodes()


@pytest.fixture
def database():
    return MemoryDatabase()


@pytest.fixture
def http(nodes, database):
    return client(nodes, database)
