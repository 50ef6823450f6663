"""The charts of this repository as files, read without helm: Chart.yaml, values, their schema, each environment's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from murmuration_testkit import REPOSITORY

ENVIRONMENTS = ("local", "staging", "production")
PLACES = ("*/chart", "deploy/*/chart", "deploy/*-chart")
LIBRARY = REPOSITORY / "deploy/chart-library"


@dataclass(frozen=True)
class Chart:
    """One chart that can be installed."""

    folder: Path

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """Chart.yaml."""
        return _mapping(self.folder / "Chart.yaml")

    @property
    def name(self) -> str:
        """The chart's name, which is its release's unless somebody says otherwise."""
        return str(self.about["name"])

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """values.yaml."""
        return _mapping(self.folder / "values.yaml")

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """values.schema.json."""
        read: Mapping[str, Any] = json.loads((self.folder / "values.schema.json").read_text("utf-8"))
        return read

    def environment(self, name: str) -> Path:
        """Return the file of an environment's values."""
        return REPOSITORY / f"deploy/environments/{name}/{self.name}.yaml"

    def refusals(self, *values: Mapping[str, Any]) -> list[str]:
        """Say what the schema has against such values, laid over values.yaml and over each other."""
        validator = jsonschema.validators.validator_for(self.schema)(self.schema)
        merged = reduce(_over, values, self.values)
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(merged)]


def charts(root: Path = REPOSITORY) -> list[Chart]:
    """Return every chart but the library."""
    return [Chart(path.parent) for path in sorted(path for each in PLACES for path in root.glob(f"{each}/Chart.yaml"))]


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> Mapping[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(name), Mapping):
            merged[name] = _over(merged[name], value)
        else:
            merged[name] = value
    return merged


def _mapping(path: Path) -> Mapping[str, Any]:
    read = yaml.safe_load(path.read_text("utf-8")) or {}
    if not isinstance(read, Mapping):
        raise TypeError(f"{path} holds no mapping")
    return read
