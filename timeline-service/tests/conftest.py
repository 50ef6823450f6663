"""The application on a store in memory, and tokens of an issuer that lives as long as the test run."""

import time
import uuid

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from timeline_service.app import create_app
from timeline_service.settings import Settings
from timeline_service.timeline import tweet as written

from .memory import MemoryArchive, MemoryCache

SETTINGS = Settings(
    jwks_url="unused",
    jwt_issuer="issuer",
    jwt_audience="audience",
    redis_url="unused",
    table_prefix="",
    rebuilds_in_flight=4,
    celebrities_a_wave=100,
)
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
    return create_app(SETTINGS, cache=cache, archive=archive, keys=FixedKeys()).test_client()


@pytest.fixture
def somebody():
    """A user id that nobody had before, so that tests on shared stores keep out of each other's way."""
    return lambda: f"u-{uuid.uuid4().hex}"
