"""Makes the modules beside tables.py importable, as they are for tables.py itself; a DynamoDB and a gateway."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from murmuration_testkit.dynamodb_local import dynamodb_local

from .own_gateway import OwnGateway, own_gateway

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(scope="module")
def own_dynamodb() -> Iterator[None]:
    """Have a DynamoDB Local of our own: beside a running system one takes half a minute to change an index."""
    with dynamodb_local(in_memory=True) as store, pytest.MonkeyPatch.context() as environment:
        for name, value in store.environment.items():
            environment.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnGateway]:
    """Run a gateway with hosts, an origin, and a proxy that is believed: ourselves."""
    said = {
        "HOSTS": "api.example 127.0.0.1",
        "CORS_ORIGINS": "https://app.example http://localhost:3000",
        "TRUSTED_PROXIES": "127.0.0.1",
    }
    with own_gateway(tmp_path_factory.mktemp("gateway"), **said) as running:
        yield running
