"""What several tests need: each of our topics, and one of the tests' own with any past that they like."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from contracts import TOPICS, Topic
from contracts.topic import Version

from .small_contracts import KNOCKED


@pytest.fixture(params=TOPICS.values(), ids=lambda topic: topic.name)
def topic(request: pytest.FixtureRequest) -> Topic:
    """Each of our topics in turn."""
    return request.param


@pytest.fixture
def schema() -> dict[str, Any]:
    """The schema of Knocked, to be changed at will."""
    return json.loads(KNOCKED.latest.schema)


@pytest.fixture
def with_versions() -> Callable[..., Topic]:
    """Knocked with other versions than its own."""

    def build(*schemas: dict[str, Any]) -> Topic:
        versions = tuple(
            Version(number, f"v{number}.avsc", f"v{number}.json", json.dumps(each))
            for number, each in enumerate(schemas, 1)
        )
        return replace(KNOCKED, versions=versions)

    return build
