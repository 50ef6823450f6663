"""What each service's code says of rows, compared with schemas/tables: all of it, run by a test or not."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from contracts import living_tweets, profiles
from contracts.table_files import load
from contracts.tables import TABLES
from contracts.topic import DATA
from murmuration_runtime import migration_switch
from murmuration_worker import dynamo_published, dynamo_shown

REPOSITORY = Path(__file__).parents[3]
FILES = load(DATA)
CLASSES = {table.__name__: FILES[name] for name, table in TABLES.items()}
SERVICES = sorted({service for file in FILES.values() for service in file.access} - {"deploy"})
SHARED = {
    "read_profile": profiles.__file__,
    "listing(is_switched": living_tweets.__file__,
    "MigrationSwitch": migration_switch.__file__,
    "DynamoPublished": dynamo_published.__file__,
    "DynamoShown": dynamo_shown.__file__,
}
TYPES = {"B", "BOOL", "L", "M", "N", "S"}
service = pytest.mark.parametrize("service", SERVICES)


@cache
def modules(service: str) -> dict[str, ast.Module]:
    """The service's modules, by their files, and those that read rows for whoever imports them."""
    texts = {str(path): path.read_text() for path in (REPOSITORY / service / "src").rglob("*.py")}
    for name, shared in SHARED.items():
        if any(name in text for text in texts.values()):
            texts[str(shared)] = Path(str(shared)).read_text()
    return {path: ast.parse(text) for path, text in texts.items()}


def nodes(service: str) -> Iterator[tuple[str, ast.AST]]:
    for path, module in modules(service).items():
        for node in ast.walk(module):
            yield f"{path}:{getattr(node, 'lineno', '')}", node


def named(service: str) -> Iterator[tuple[str, str, str]]:
    """Each place where the code says TABLE.name, with the table and the name."""
    for place, node in nodes(service):
        match node:
            case ast.Attribute(value=ast.Name(id=table), attr=name) if table in CLASSES:
                yield place, CLASSES[table].name, name


def granted(service: str, table: str) -> set[str]:
    """The attributes and indexes that the table's file gives the service; whoever asks for a row names its key."""
    file = FILES[table]
    touched = {name for name, it in file.attributes.items() if service in (*it.written_by, *it.read_by)}
    parts = file.access.get(service, {}).keys()
    return touched | (parts & file.every_index.keys()) | ({*file.key} if parts else set())


@service
def test_a_service_names_no_attribute_that_is_not_its_own(service):
    """Neither an attribute nor an index that the file does not give it."""
    strange = {
        f"{place} touches {name}: tables/{table}.yaml does not give it to {service}"
        for place, table, name in named(service)
        if name in {*FILES[table].attributes, *FILES[table].every_index} - granted(service, table)
    }
    assert not strange, "\n".join(sorted(strange))


@service
def test_a_service_uses_all_that_it_is_given(service):
    """A right that nobody needs any more is taken back; expressions name attributes in their text."""
    in_code = {(table, name) for _, table, name in named(service)}
    docstrings = {id(node.value) for _, node in nodes(service) if isinstance(node, ast.Expr)}
    constants = [node for _, node in nodes(service) if isinstance(node, ast.Constant) and id(node) not in docstrings]
    in_texts = {word for it in constants if isinstance(it.value, str) for word in re.findall(r"[a-z_]+", it.value)}
    unused = {
        f"tables/{table}.yaml gives {service} {name}, which its code never names"
        for table, file in FILES.items()
        for name in granted(service, table) - {*file.key}
        if (table, name) not in in_code and name not in in_texts
    }
    assert not unused, "\n".join(sorted(unused))


@service
def test_rows_are_made_and_read_by_names_from_contracts(service):
    """No {"user_id": {"S": …}}, row["user_id"]["S"], row.get("user_id", …), prefix + "users": all could be misspelt."""
    literals = set()
    for place, node in nodes(service):
        match node:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                found = [key for key, value in pairs if isinstance(value, ast.Dict) and is_typed(value)]
            case ast.Subscript(value=ast.Subscript(slice=key), slice=ast.Constant(value=kind)) if kind in TYPES:
                found = [key]
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, ast.Dict() as default]) if is_typed(default):
                found = [key]
            case ast.BinOp(right=ast.Constant(value=table) as key) if table in TABLES:
                found = [key]
            case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=table) as key]) if table in TABLES:
                found = [key]
            case _:
                continue
        literals |= {f"{place} {key.value}" for key in found if isinstance(key, ast.Constant) and key.value[0] != ":"}
    assert not literals, "\n".join(sorted(literals))


def is_typed(value: ast.Dict) -> bool:
    """Tell whether it is a value as DynamoDB has them: {"S": …}."""
    return [getattr(key, "value", None) in TYPES for key in value.keys] == [True]
