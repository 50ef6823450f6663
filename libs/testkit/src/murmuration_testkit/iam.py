"""What a request to DynamoDB asks of IAM, and whether its template in deploy/aws/access allows it, decided offline.

Rule: what IAM is told are the attributes that the request names, not those that come back; so a read that names none
asks for ALL_ATTRIBUTES. A transaction asks for each of its actions; a batch for its action on each of its tables.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

TEMPLATES = REPOSITORY / "deploy/aws/access"
FILES = load(DATA)
SUGGESTIONS_JOB = "suggestions"
TABLES_JOB = "deploy"
FILE_NAMES = {TABLES_JOB: "tables"}  # of those whose template has another name: its chart's
READS = {"BatchGetItem", "GetItem", "Query", "Scan"}
WRITES = {"ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"}
ATTRIBUTES, SELECT, RETURNED = "dynamodb:Attributes", "dynamodb:Select", "dynamodb:ReturnValues"
WORDS = re.compile(r"[:#]?[a-zA-Z_]\w*\b(?!\()|[:#]\w+")  # not those with a bracket, which are functions
SPOKEN = {"ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"}
_VALUES = {"AWS::Partition": "aws", "AWS::Region": "here", "AWS::AccountId": "us", "TablePrefix": ""}


class Ask(NamedTuple):
    """One action on one resource, and what IAM is told of it."""

    action: str
    resource: str
    context: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        """Say it as an operator would look for it in a policy."""
        told = "; ".join(f"{key} {', '.join(values)}" for key, values in self.context)
        return f"{self.action} on {_short(self.resource)}{told and f' ({told})'}"


class Statement(NamedTuple):
    """One statement that allows something."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, Mapping[str, list[str]]]

    def allows(self, ask: Ask) -> bool:
        """Decide as IAM does."""
        if ask.action not in self.actions or not any(fnmatchcase(ask.resource, each) for each in self.resources):
            return False
        told = dict(ask.context)
        return all(
            _holds(operator, told.get(key), values)
            for operator, keys in self.condition.items()
            for key, values in keys.items()
        )


@cache
def policies() -> dict[str, list[Statement]]:
    """Return what the templates allow each service in DynamoDB, with no prefix before the tables' names."""
    return {
        service: [
            Statement(tuple(it["Action"]), tuple(_plain(each) for each in it["Resource"]), it.get("Condition", {}))
            for it in _statements(service)
        ]
        for service in sorted({service for file in FILES.values() for service in file.access})
    }


def template(service: str) -> Path:
    """Return the file of a service's role and policies."""
    return TEMPLATES / f"{FILE_NAMES.get(service, service)}.yaml"


def _statements(service: str) -> list[Any]:
    tables: list[Any] = yaml.safe_load(template(service).read_text("utf-8"))["Resources"]["Tables"]["Properties"][
        "PolicyDocument"
    ]["Statement"]
    return tables


def refusal(service: str, ask: Ask) -> str:
    """Say what IAM would refuse; nothing if it allows it."""
    if any(statement.allows(ask) for statement in policies()[service]):
        return ""
    return f"{service} asks for {ask}, and {template(service).relative_to(REPOSITORY)} does not allow it"


def unused(asked: Mapping[str, Iterable[Ask]]) -> list[str]:
    """Say what the policies allow that nobody asked for: an action on a resource, an attribute of a condition."""
    found = []
    for service, statements in policies().items():
        for statement in statements:
            mine = [ask for ask in asked.get(service, ()) if statement.allows(ask)]
            found += [
                f"{service} may {action} on {_short(resource)}, and never did"
                for action in statement.actions
                for resource in statement.resources
                if not _is_leaving(resource)
                and not any(ask.action == action and fnmatchcase(ask.resource, resource) for ask in mine)
            ]
            named = {name for ask in asked.get(service, ()) if _alike(statement, ask) for name in _names_of(ask)}
            allowed = {*statement.condition.get("ForAllValues:StringEquals", {}).get(ATTRIBUTES, ())}
            if spare := sorted(allowed - named - _keys_of(statement.resources)) if allowed else ():
                where = f"{', '.join(statement.actions)} on {', '.join(map(_short, statement.resources))}"
                found += [f"{service} may name {name} in {where}, and never did" for name in spare]
    return found


def asks(operation: str, request: Mapping[str, Any]) -> Iterator[Ask]:
    """Return what a request asks for, of tables that a file describes, whatever their prefix."""
    if arn := request.get("StreamArn", request.get("ShardIterator", "")):
        where = re.search(r"table/([^/]+)/stream/", arn)
        if where and (table := _table(where[1])):
            yield Ask(f"dynamodb:{operation}", _arn(table, "/stream/some"))
        return
    for action, table, part in single(operation, request):
        name = _table(table)
        if name is None:
            continue
        index = f"/index/{part['IndexName']}" if "IndexName" in part else ""
        context = {}
        if action in READS | WRITES:
            context[ATTRIBUTES] = tuple(sorted({*_named(part)}))
        if action in READS:
            context[SELECT] = (_select(part),)
        if action in WRITES:
            context[RETURNED] = (part.get("ReturnValues", "NONE"),)
        yield Ask(f"dynamodb:{action}", _arn(name, index), tuple(context.items()))


def single(operation: str, request: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Split a request into those of one action on one table."""
    if operation == "TransactWriteItems":
        for item in request["TransactItems"]:
            ((kind, part),) = item.items()
            yield f"{kind}Item", part["TableName"], part
    elif "RequestItems" in request:
        for table, part in request["RequestItems"].items():
            yield operation, table, part if isinstance(part, dict) else {}
    elif "TableName" in request:
        yield operation, request["TableName"], dict(request)


def words(expression: str, names: Mapping[str, str]) -> list[str]:
    """Return the attributes that an expression names, in its order."""
    found = [word for word in WORDS.findall(expression) if word[0] != ":" and word.upper() not in SPOKEN]
    return [names.get(word, word) for word in found]


def access_keys() -> dict[str, str]:
    """Return whose each access key is on the local stack."""
    jobs = {job: job for job in (TABLES_JOB, SUGGESTIONS_JOB)}
    return {service.access_key: service.name for service in SERVICES.values()} | jobs


def _named(request: Mapping[str, Any]) -> Iterator[str]:
    names = request.get("ExpressionAttributeNames", {})
    for kind in ("Condition", "Filter", "KeyCondition", "Projection", "Update"):
        yield from words(request.get(f"{kind}Expression", ""), names)
    for key in (*request.get("Keys", ()), *(request.get(kind, {}) for kind in ("ExclusiveStartKey", "Item", "Key"))):
        yield from key


def _select(request: Mapping[str, Any]) -> str:
    if "Select" in request:
        return str(request["Select"])
    if "ProjectionExpression" in request:
        return "SPECIFIC_ATTRIBUTES"
    return "ALL_PROJECTED_ATTRIBUTES" if "IndexName" in request else "ALL_ATTRIBUTES"


def _holds(operator: str, told: tuple[str, ...] | None, values: list[str]) -> bool:
    match operator:
        case "ForAllValues:StringEquals":
            return {*(told or ())} <= {*values}
        case "StringEquals":
            return told is not None and told[0] in values
        case "StringEqualsIfExists":
            return told is None or told[0] in values
    raise NotImplementedError(f"nothing here evaluates {operator}")


def _table(name: str) -> str | None:
    return next((known for known in FILES if name.endswith(known)), None)


def _arn(table: str, part: str) -> str:
    return f"arn:aws:dynamodb:here:us:table/{table}{part}"


def _short(resource: str) -> str:
    return resource.partition(":us:")[2]


def _plain(resource: Mapping[str, str]) -> str:
    return re.sub(r"\$\{([^}]+)}", lambda name: _VALUES[name[1]], resource["Fn::Sub"])


def _alike(statement: Statement, ask: Ask) -> bool:
    """Say whether it reads, or writes, as the statement does, what is of the same table: read_by tells no more."""
    kind = READS if _verb(statement.actions[0]) in READS else WRITES
    tables = {resource.split("/")[1] for resource in statement.resources}
    return _verb(ask.action) in kind and ask.resource.split("/")[1] in tables


def _verb(action: str) -> str:
    return action.partition(":")[2]


def _names_of(ask: Ask) -> tuple[str, ...]:
    return dict(ask.context).get(ATTRIBUTES, ())


def _is_leaving(resource: str) -> bool:
    """Say whether it is an index that only tables with a past have: no stack of a test has one."""
    table, _, index = resource.partition(":table/")[2].partition("/index/")
    return bool(index) and index in FILES[table].leaving


def _keys_of(resources: Iterable[str]) -> set[str]:
    """Return the keys of tables and indexes, which a condition on attributes must always have."""
    keys: set[str] = set()
    for resource in resources:
        table, _, index = resource.partition(":table/")[2].partition("/index/")
        keys |= {*FILES[table].key, *(FILES[table].every_index[index].key if index else ())}
    return keys
