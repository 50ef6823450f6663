"""What tests of every folder use."""

import uuid
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def somebody() -> Callable[[], str]:
    """Give a user id that nobody had before, so that tests on shared stores keep out of each other's way."""
    return lambda: f"u-{uuid.uuid4().hex}"
