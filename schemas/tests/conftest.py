"""What several tests need: a topic with a longer past than ours has."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from contracts import TOPICS, Topic
from contracts.topic import Version


@pytest.fixture(params=TOPICS.values(), ids=lambda topic: topic.name)
def topic(request: pytest.FixtureRequest) -> Topic:
    """Each of our topics in turn."""
    return request.param


@pytest.fixture
def schema() -> dict[str, Any]:
    """The schema of FollowChanged, to be changed at will."""
    return json.loads(TOPICS["FollowChanged"].latest.schema)


@pytest.fixture
def with_versions() -> Callable[..., Topic]:
    """FollowChanged with other versions than its own."""

    def build(*schemas: dict[str, Any]) -> Topic:
        versions = tuple(
            Version(number, f"v{number}.avsc", f"v{number}.json", json.dumps(each))
            for number, each in enumerate(schemas, 1)
        )
        return replace(TOPICS["FollowChanged"], versions=versions)

    return build
