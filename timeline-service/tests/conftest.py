"""The application on a store in memory, and an issuer of tokens that lives as long as the test run."""

import pytest

from murmuration_testkit.tokens import Issuer
from timeline_service.app import create_app
from timeline_service.settings import Settings
from timeline_service.timeline import tweet as written

from .memory import MemoryArchive, MemoryCache

ISSUER = Issuer()
bearer = ISSUER.bearer
STRANGER = Issuer()  # signs with a key that nobody published
SETTINGS = Settings(
    jwks_url="unused",
    jwt_issuer=ISSUER.name,
    jwt_audience=ISSUER.audience,
    redis_url="unused",
    table_prefix="",
    rebuilds_in_flight=4,
    celebrities_a_wave=100,
)


def tweet(n, author="bob"):
    """A tweet whose place in time is n."""
    return written(str(1_700_000_000_000_000_000 + n), author, f"tweet {n}", 1_700_000_000_000 + n)


@pytest.fixture
def cache():
    return MemoryCache()


@pytest.fixture
def archive():
    return MemoryArchive()


@pytest.fixture
def http(cache, archive):
    return create_app(SETTINGS, cache=cache, archive=archive, keys=ISSUER).test_client()
