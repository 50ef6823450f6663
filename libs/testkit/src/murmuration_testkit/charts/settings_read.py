"""Which settings a service's code reads, found in the code itself: every class that it hands to read().

Rule: a SecretStr stands among a chart's `secrets` alone, the path of a file among its `files` alone; everything else
among its `settings`, or its `secrets` for who keeps it there. What the chart sets by itself is among none of them.
"""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pydantic_settings import BaseSettings

SET_BY_THE_CHART = frozenset({"PORT", "ADMIN_PORT", "BUILD_COMMIT"})


@dataclass(frozen=True)
class SettingsRead:
    """The names that a package reads from its environment, by the place that they have in values.yaml."""

    settings: frozenset[str]
    secrets: frozenset[str]
    files: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Every one of them."""
        return self.settings | self.secrets | self.files


def settings_read(package: str) -> SettingsRead:
    """Return what all processes and commands of a package read."""
    settings, secrets, files = set[str](), set[str](), set[str]()
    for read in classes_read(package):
        for field, info in read.model_fields.items():
            name = field.upper()
            if name in SET_BY_THE_CHART:
                continue
            place = secrets if "SecretStr" in str(info.annotation) else files if name.endswith("_FILE") else settings
            place.add(name)
    return SettingsRead(frozenset(settings), frozenset(secrets), frozenset(files))


def classes_read(package: str) -> Iterator[type[BaseSettings]]:
    """Give each class of settings that a module of the package hands to read()."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"there is no package {package}")
    for module in pkgutil.iter_modules([str(Path(found.origin).parent)], f"{package}."):
        spec = find_spec(module.name)
        for owner, name in _names_read(module.name, Path(str(spec and spec.origin))):
            read = getattr(importlib.import_module(owner), name, None)
            if not (isinstance(read, type) and issubclass(read, BaseSettings)):
                raise TypeError(f"{module.name} reads {name}, which is no class of settings of {owner}")
            yield read


def _names_read(module: str, source: Path) -> list[tuple[str, str]]:
    """Return the names in `read(NAME)`, each with the module that it is imported from."""
    nodes = [*ast.walk(ast.parse(source.read_text("utf-8")))]
    owners = {
        alias.name: node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return [
        (owners.get(node.args[0].id, module), node.args[0].id)
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "read"
        and isinstance(node.args[0], ast.Name)
    ]
