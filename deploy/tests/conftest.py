"""Makes the modules beside tables.py importable, as they are for tables.py itself; and a DynamoDB for its tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from murmuration_testkit.dynamodb_local import dynamodb_local

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(scope="module")
def own_dynamodb() -> Iterator[None]:
    """Have a DynamoDB Local of our own: beside a running system one takes half a minute to change an index."""
    with dynamodb_local(in_memory=True) as store, pytest.MonkeyPatch.context() as environment:
        for name, value in store.environment.items():
            environment.setenv(name, value)
        yield
