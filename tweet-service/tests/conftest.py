"""The application on a store in memory, and an issuer of tokens that lives as long as the test run."""

import itertools
import random
from types import SimpleNamespace

import pytest

from murmuration_testkit.tokens import Issuer
from tweet_service.app import create_app
from tweet_service.settings import Settings
from tweet_service.snowflake import Reservation, Snowflakes
from tweet_service.tweets import Tweet

from .memory import MemoryAccounts, MemoryStore

ISSUER = Issuer()
bearer = ISSUER.bearer
SETTINGS = Settings(**ISSUER.edge_settings)
FOREVER = Reservation(1, 0, 2**42)


@pytest.fixture
def memory():
    return MemoryStore()


@pytest.fixture
def accounts():
    """Alice, Ann and Bob, who have profiles."""
    accounts = MemoryAccounts()
    for who in ("alice", "ann", "bob"):
        accounts.join(who)
    return accounts


@pytest.fixture
def clock():
    """A clock that only the test moves."""
    return SimpleNamespace(now=1_700_000_000_000)


@pytest.fixture
def http(memory, accounts, clock):
    ids = Snowflakes(lambda: clock.now)
    ids.reserve(FOREVER)
    parts = {"tweets": memory, "accounts": accounts, "keys": ISSUER, "ids": ids}
    return create_app(SETTINGS, **parts, now=lambda: clock.now).test_client()


@pytest.fixture
def say():
    """Make tweets under growing ids that no other test uses."""
    ids = itertools.count(random.randrange(10**18, 8 * 10**18))
    return lambda author: Tweet(str(next(ids)), author, "hello 👋", 1_700_000_000_000)
