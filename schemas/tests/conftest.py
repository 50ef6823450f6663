"""What several tests need: each of our topics, and one of the tests' own with any past that they like."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts import TOPICS, Topic, releases, table_files
from contracts.topic import DATA, Version, load

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


@pytest.fixture
def rewritten(tmp_path: Path) -> Callable[..., list[str]]:
    """Change entries of a file in a copy of the data; return which contracts are others then."""
    data = shutil.copytree(DATA, tmp_path / "data")

    def change(file: str, entries: dict[str, Any]) -> list[str]:
        before = releases.contracts(load(data), table_files.load(data))
        path = data / file
        path.write_text(yaml.safe_dump(_merged(yaml.safe_load(path.read_text("utf-8")), entries)))
        after = releases.contracts(load(data), table_files.load(data))
        return [name for name in after if after[name] != before[name]]

    return change


def _merged(entry: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return entry | {
        key: _merged(entry[key], value) if isinstance(value, dict) else value for key, value in change.items()
    }
