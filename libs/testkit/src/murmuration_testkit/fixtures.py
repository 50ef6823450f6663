"""A pytest plugin: what tests of every folder use."""

import uuid
from collections.abc import Callable

import pytest

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def somebody() -> Callable[[], str]:
    """Give a user id that nobody had before, so that tests on shared stores keep out of each other's way."""
    return lambda: f"u-{uuid.uuid4().hex}"


@pytest.fixture
def dynamodb_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every DynamoDB client that is made meanwhile find nobody at its address."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", NOBODY)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
