"""Which settings a service's code reads, found in the code itself: every class that it hands to read().

Rule: a name is in exactly one place of a chart's values. A SecretStr is among its `secrets`, a path of a file among its
`files`, everything else among its `settings`; what the chart sets by itself is among none of them.
"""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pydantic_settings import BaseSettings

SET_BY_THE_CHART = frozenset({"PORT", "ADMIN_PORT", "HOST", "BUILD_COMMIT"})


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
        names = _names_read(Path(str(spec and spec.origin)))
        for name in names:
            read = getattr(importlib.import_module(module.name), name, None)
            if not (isinstance(read, type) and issubclass(read, BaseSettings)):
                raise TypeError(f"{module.name} reads {name}, which is no class of settings of that module")
            yield read


def _names_read(source: Path) -> list[str]:
    """Return the names in `read(NAME)`, in the order of the file."""
    calls = [node for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [
        call.args[0].id
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "read" and isinstance(call.args[0], ast.Name)
    ]
