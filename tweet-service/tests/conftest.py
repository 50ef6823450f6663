"""The application on a store in memory, and tokens of an issuer that lives as long as the test run."""

import time
import uuid
from types import SimpleNamespace

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tweet_service.app import create_app
from tweet_service.settings import Settings
from tweet_service.snowflake import Reservation, Snowflakes

from .memory import MemoryAccounts, MemoryStore

SETTINGS = Settings(jwks_url="unused", jwt_issuer="issuer", jwt_audience="audience", table_prefix="")
FOREVER = Reservation(1, 0, 2**42)
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class FixedKeys:
    """The issuer's only key."""

    def get_signing_key_from_jwt(self, token):
        jwt.get_unverified_header(token)
        return KEY.public_key()


def token(sub, *, key=KEY, **claims):
    claims = {"sub": sub, "iss": "issuer", "aud": "audience", "exp": time.time() + 60} | claims
    return jwt.encode({name: value for name, value in claims.items() if value is not None}, key, "RS256")


def bearer(sub, **claims):
    return {"Authorization": f"Bearer {token(sub, **claims)}"}


@pytest.fixture
def memory():
    return MemoryStore()


@pytest.fixture
def accounts():
    return MemoryAccounts()


@pytest.fixture
def clock():
    """A clock that only the test moves."""
    return SimpleNamespace(now=1_700_000_000_000)


@pytest.fixture
def http(memory, accounts, clock):
    ids = Snowflakes(lambda: clock.now)
    ids.reserve(FOREVER)
    parts = {"store": memory, "accounts": accounts, "keys": FixedKeys(), "ids": ids}
    return create_app(SETTINGS, **parts, now=lambda: clock.now).test_client()


@pytest.fixture
def somebody():
    """A user id that nobody had before, so that tests on a shared table keep out of each other's way."""
    return lambda: f"u-{uuid.uuid4().hex}"
