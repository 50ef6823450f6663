"""The OpenAPI document of a service, made from its operations. Pure.

Rule: nothing is written by hand that could differ from what the service does: models, statuses, headers and problems
are those that the requests meet.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from murmuration_edge import headers
from murmuration_edge.limits import extra_costs
from murmuration_edge.operations import Answer, Operation, Operations
from murmuration_edge.problems import (
    EVERYWHERE,
    FAILED,
    HTTP,
    TOO_MANY,
    WITH_BODY,
    WITH_CURSOR,
    WITH_QUERY,
    Problem,
    Problems,
)
from murmuration_edge.queries import SENT_BACK
from murmuration_edge.schemas import Schemas

_PARAMETER = re.compile("<([a-z_]+)>")


def document(title: str, version: str, operations: Operations, problems: Problems) -> dict[str, Any]:
    """Return a service's description, in the order in which its operations were declared."""
    declared = list(operations.by_endpoint.values())
    schemas = Schemas(declared, operations.patterns)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for operation in declared:
        path = _PARAMETER.sub(r"{\1}", operation.path)
        paths[path][operation.method.lower()] = {
            "operationId": operation.name,
            "tags": [operations.blueprint.name],
            **_described(operation, schemas, problems),
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "headers": headers.components(),
            "schemas": dict(sorted(schemas.components.items())),
        },
    }


def _described(operation: Operation, schemas: Schemas, problems: Problems) -> dict[str, Any]:
    more = "".join(f", {cost} more with {parameter}" for parameter, cost in extra_costs(operation).items())
    described: dict[str, Any] = {
        "summary": operation.summary,
        "description": f"Costs {operation.cost} of the budget `{operation.budget}`{more}.",
    }
    if parameters := [*_path(operation), *_query(operation), *_headers(operation)]:
        described["parameters"] = parameters
    if operation.body:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas.of_body(operation.body)}},
        }
    described["responses"] = {
        **{str(status): _answer(answer, schemas) for status, answer in operation.answers.items()},
        **{str(status): _refusal(status, kinds, schemas) for status, kinds in _refusals(operation, problems).items()},
    }
    return described


def _refusals(operation: Operation, problems: Problems) -> dict[int, list[Problem]]:
    """Return all problems that can come, by status."""
    can_come = {*EVERYWHERE.values(), FAILED, TOO_MANY, HTTP[405], *(problems[each] for each in operation.refusals)}
    if _PARAMETER.search(operation.path):
        can_come.add(HTTP[404])  # with a slash in it, a text is another path
    if operation.query:
        can_come |= {*WITH_QUERY.values()}
        if SENT_BACK & operation.query.model_fields.keys():
            can_come |= {*WITH_CURSOR.values()}
    if operation.body:
        can_come |= {*WITH_BODY.values(), HTTP[413], HTTP[415]}
    found: dict[int, list[Problem]] = defaultdict(list)
    for each in sorted(can_come, key=lambda each: (each.status, each.code)):
        found[each.status].append(each)
    return found


def _answer(answer: Answer, schemas: Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {"description": answer.meaning, "headers": headers.of_success(answer.headers)}
    if answer.model:
        described["content"] = {"application/json": {"schema": schemas.of_answer(answer.model)}}
    return described


def _refusal(status: int, kinds: Sequence[Problem], schemas: Schemas) -> dict[str, Any]:
    each = [schemas.of_problem(kind) for kind in kinds]
    return {
        "description": ", ".join(kind.code for kind in kinds),
        "headers": headers.of_refusal(status),
        "content": {"application/problem+json": {"schema": each[0] if len(each) == 1 else {"oneOf": each}}},
    }


def _path(operation: Operation) -> Iterable[dict[str, Any]]:
    for name in _PARAMETER.findall(operation.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[^/]+$"}}


def _query(operation: Operation) -> Iterable[dict[str, Any]]:
    schema = operation.query.model_json_schema() if operation.query else {}
    for name, each in schema.get("properties", {}).items():
        kind = {key: value for key, value in each.items() if key not in ("title", "description", "anyOf")}
        for other in each.get("anyOf", ()):  # a model's None is a parameter that is left out
            if other != {"type": "null"}:
                kind.update(other)
                del kind["default"]
        about = {"description": each["description"]} if "description" in each else {}
        yield {"name": name, "in": "query", "required": name in schema.get("required", ()), **about, "schema": kind}


def _headers(operation: Operation) -> Iterable[dict[str, Any]]:
    asks_for_changes = ["If-None-Match"] if HTTPStatus.NOT_MODIFIED in operation.answers else []
    for name in [*operation.headers, *asks_for_changes]:
        yield {"name": name, "in": "header", "required": False, **headers.OF_REQUESTS[name]}
