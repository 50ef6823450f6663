"""The tables as their files describe them: the shape to create, and who reads and writes each attribute."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from contracts.errors import ContractError
from contracts.tables import Table

TYPES = {"B", "BOOL", "BS", "L", "M", "N", "NS", "S", "SS"}  # DynamoDB's names


@dataclass(frozen=True)
class Attribute:
    """One attribute's contract. Of those who write the table, `checked_by` has whose conditions name this one."""

    type: str
    means: str
    written_by: tuple[str, ...]
    read_by: tuple[str, ...]
    values: tuple[str, ...] = ()
    checked_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Index:
    """A global secondary index."""

    key: tuple[str, ...]
    projection: str


@dataclass(frozen=True)
class TableFile:
    """One table's contract. `access` gives each service DynamoDB's actions on `table`, `stream`, or an index.

    `leaving` are indexes that a table with a past has until a migration drops them, and a new table never gets.
    `version` is the attribute that every update of a row raises by one: of two states the one with more is the later.
    """

    name: str
    description: str
    owner: str
    key: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    access: Mapping[str, Mapping[str, tuple[str, ...]]]
    indexes: Mapping[str, Index] = field(default_factory=dict)
    leaving: Mapping[str, Index] = field(default_factory=dict)
    stream: str | None = None
    expires: str | None = None
    version: str | None = None

    @property
    def every_index(self) -> Mapping[str, Index]:
        """The indexes that a table may have, new or with a past."""
        return {**self.indexes, **self.leaving}

    @property
    def create(self) -> dict[str, Any]:
        """The table in the words of DynamoDB's CreateTable."""
        keyed = {name: None for key in (self.key, *(index.key for index in self.indexes.values())) for name in key}
        indexes = [
            {"IndexName": name, "KeySchema": _schema(it.key), "Projection": {"ProjectionType": it.projection}}
            for name, it in self.indexes.items()
        ]
        stream = {"StreamEnabled": True, "StreamViewType": self.stream}
        return {
            "AttributeDefinitions": [{"AttributeName": it, "AttributeType": self.attributes[it].type} for it in keyed],
            "KeySchema": _schema(self.key),
            **({"StreamSpecification": stream} if self.stream else {}),
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        }


def load(data: Path) -> Mapping[str, TableFile]:
    """Read every table's file under data, or say which file is wrong and why."""
    return MappingProxyType({path.stem: _table(path) for path in sorted((data / "tables").glob("*.yaml"))})


def check(files: Mapping[str, TableFile], tables: Mapping[str, type[Table]]) -> None:
    """Pass if the classes have the names of the files, no more and no fewer."""
    if differ := files.keys() ^ tables.keys():
        raise ContractError(f"contracts.tables and schemas/tables differ by the table {', '.join(sorted(differ))}")
    for name, file in files.items():
        written = {key: value for key, value in vars(tables[name]).items() if isinstance(value, str) and key[0] != "_"}
        del written["name"]
        values = {value for key, value in written.items() if key.isupper()}
        names = {(key, value) for key, value in written.items() if not key.isupper()}
        if differing := names ^ {(it, it) for it in (*file.attributes, *file.every_index)}:
            wrong = ", ".join(sorted({key for key, _ in differing}))
            raise ContractError(f"the class of {name} in contracts.tables and tables/{name}.yaml differ by {wrong}")
        if unknown := values - {value for it in file.attributes.values() for value in it.values}:
            raise ContractError(f"tables/{name}.yaml has no value {', '.join(sorted(unknown))}")


def _schema(key: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(key, ("HASH", "RANGE"), strict=False)]


def _table(path: Path) -> TableFile:
    try:
        entry = yaml.safe_load(path.read_text("utf-8"))
        file = TableFile(
            name=path.stem,
            key=tuple(entry.pop("key")),
            attributes={name: _attribute(**it) for name, it in entry.pop("attributes").items()},
            indexes=_indexes(entry.pop("indexes", {})),
            leaving=_indexes(entry.pop("leaving", {})),
            access={
                service: {part: tuple(actions) for part, actions in parts.items()}
                for service, parts in entry.pop("access").items()
            },
            **entry,
        )
    except (AttributeError, KeyError, TypeError, OSError, yaml.YAMLError) as error:
        raise ContractError(f"tables/{path.name}: {type(error).__name__}: {error}") from error
    for mistake in _mistakes(file):
        raise ContractError(f"tables/{path.name}: {mistake}")
    return file


def _indexes(entries: Mapping[str, Any]) -> dict[str, Index]:
    return {name: Index(tuple(it.pop("key")), **it) for name, it in entries.items()}


def _attribute(**entry: Any) -> Attribute:
    lists: dict[str, Any] = {
        name: tuple(entry.pop(name)) for name in ("written_by", "read_by", "checked_by", "values") if name in entry
    }
    return Attribute(**entry, **lists)


def _mistakes(file: TableFile) -> Iterator[str]:
    named = [*file.key, *(name for index in file.every_index.values() for name in index.key)]
    for name in [*named, file.expires, file.version]:
        if name and name not in file.attributes:
            yield f"{name} is not among the attributes"
    yield from _mistakes_of_version(file)
    if clash := file.attributes.keys() & {*file.every_index, "name"}:
        yield f"{', '.join(clash)} cannot name an attribute: it is the table's name or an index"
    if file.owner not in file.access:
        yield f"the owner {file.owner} has no access"
    for service, parts in file.access.items():
        if unknown := parts.keys() - {"table", "stream", *file.every_index}:
            yield f"{service} has access to {', '.join(unknown)}, which is no part of the table"
    for name, attribute in file.attributes.items():
        for mistake in _mistakes_of(attribute, file.access):
            yield f"{name} {mistake}"


def _mistakes_of_version(file: TableFile) -> Iterator[str]:
    if file.version is None or file.version not in file.attributes:
        return
    writers = {service for it in file.attributes.values() for service in it.written_by}
    if idle := writers - {*file.attributes[file.version].written_by}:
        yield f"{file.version} is not raised by {', '.join(sorted(idle))}, who writes other attributes"
    for service, parts in file.access.items():
        if whole := {"PutItem", "DeleteItem"} & {*parts.get("table", ())}:
            yield f"{service} may {' and '.join(sorted(whole))}, which would begin {file.version} anew"


def _mistakes_of(attribute: Attribute, access: Mapping[str, object]) -> Iterator[str]:
    if attribute.type not in TYPES:
        yield f"has the type {attribute.type}"
    if strangers := {*attribute.written_by, *attribute.read_by} - access.keys():
        yield f"is read or written by {', '.join(sorted(strangers))}, with no access"
    if idle := {*attribute.checked_by} - ({*attribute.read_by} - {*attribute.written_by}):
        yield f"is checked by {', '.join(sorted(idle))}, who does not read it, or writes it anyway"
