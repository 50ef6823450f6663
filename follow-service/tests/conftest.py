"""The application on a store in memory, and an issuer of tokens that lives as long as the test run."""

from types import SimpleNamespace

import pytest

from follow_service.app import create_app
from follow_service.settings import Settings
from murmuration_testkit.tokens import Issuer

from .memory import MemoryStore

ISSUER = Issuer()
bearer = ISSUER.bearer
SETTINGS = Settings(**ISSUER.edge_settings, following_cap=3)


@pytest.fixture
def memory():
    return MemoryStore()


@pytest.fixture
def clock():
    """A clock that only the test moves."""
    return SimpleNamespace(now=1_700_000_000_000)


@pytest.fixture
def http(memory, clock):
    return create_app(SETTINGS, follows=memory, keys=ISSUER, now=lambda: clock.now).test_client()
