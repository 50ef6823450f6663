"""The OpenAPI document of a service, made from its operations. Pure.

Rule: nothing is written by hand that could differ from what the service does: models, statuses, headers and problems
are those that the requests meet.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, TypeAdapter

from murmuration_edge.operations import Answer, Operation
from murmuration_edge.problems import EVERYWHERE, FAILED, HTTP, TOO_MANY, WITH_BODY, WITH_QUERY, Problem, Problems

REF = "#/components/schemas/{model}"
HEADERS: Mapping[str, tuple[str, dict[str, Any]]] = {  # what each means; a name that is not here cannot be declared
    "ETag": ("Send it back as If-None-Match, to be told 304 while nothing has changed", {"type": "string"}),
    "Link": ("The next page, if there is one: rel=next", {"type": "string"}),
    "Location": ("Where the new one is read", {"type": "string"}),
    "Retry-After": ("Seconds to wait before the next try", {"type": "integer", "minimum": 0}),
    "WWW-Authenticate": ("Which token is wanted, and what was wrong with this one", {"type": "string"}),
    "X-Request-ID": ("The id by which logs name this request", {"type": "string"}),
}
ALWAYS = ("X-Request-ID",)  # on every answer
OF_PROBLEMS: Mapping[int, Sequence[str]] = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}
REQUEST_HEADERS: Mapping[str, dict[str, Any]] = {
    "Idempotency-Key": {
        "description": "Makes repeats of this request one tweet, for a day",
        "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    },
}
TIME = "Milliseconds since 1970"


class Fault(BaseModel):
    """One thing that was wrong with a request: where in the body or which parameter, and what."""

    pointer: str = ""
    parameter: str = ""
    detail: str


class ProblemDetails(BaseModel):
    """What was wrong (RFC 9457): `code` and `type` name the kind, which docs/problems.md explains."""

    type: str
    code: str
    title: str
    status: int
    detail: str
    request_id: str | None
    errors: list[Fault] = []


def document(title: str, version: str, operations: Iterable[Operation], problems: Problems) -> dict[str, Any]:
    """Return a service's description, in the order in which its operations were declared."""
    declared = list(operations)
    schemas = _Schemas(declared)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for operation in declared:
        path = re.sub("<([a-z_]+)>", r"{\1}", operation.path)
        paths[path][operation.method.lower()] = _described(operation, schemas, problems)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "headers": {
                name: {"description": meaning, "schema": schema} for name, (meaning, schema) in HEADERS.items()
            },
            "schemas": schemas.components,
        },
    }


class _Schemas:
    """The schemas of all models, each under its name."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        models: dict[tuple[Any, Any], Any] = {}
        for operation in operations:
            if operation.body:
                models[operation.body, "validation"] = operation.body
            for answer in operation.answers.values():
                if answer.model:
                    models[answer.model, "serialization"] = answer.model
        models[ProblemDetails, "serialization"] = ProblemDetails
        made, definitions = TypeAdapter.json_schemas(
            [(key, mode, TypeAdapter(model)) for (key, mode), model in models.items()], ref_template=REF
        )
        self._made = made
        self.components: dict[str, Any] = definitions["$defs"]
        for component in self.components.values():
            for name, each in component.get("properties", {}).items():
                if name.endswith("_at"):
                    each["description"] = TIME

    def of(self, model: Any, mode: str) -> dict[str, Any]:
        """Return what stands for a model: a reference to its schema."""
        return self._made[model, mode]  # type: ignore[index]


def _described(operation: Operation, schemas: _Schemas, problems: Problems) -> dict[str, Any]:
    described: dict[str, Any] = {"operationId": operation.name, "summary": operation.summary}
    if parameters := [*_path(operation), *_query(operation), *_headers(operation)]:
        described["parameters"] = parameters
    if operation.body:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas.of(operation.body, "validation")}},
        }
    described["responses"] = {
        **{str(status): _answer(answer, schemas) for status, answer in operation.answers.items()},
        **{str(status): _refusal(status, codes) for status, codes in _codes(operation, problems).items()},
    }
    return described


def _codes(operation: Operation, problems: Problems) -> dict[int, list[str]]:
    """Return the codes of all problems that can come, by status."""
    can_come: list[Problem] = [*EVERYWHERE.values(), FAILED, TOO_MANY]
    can_come += [problems[each] for each in operation.refusals]
    if operation.query:
        can_come += WITH_QUERY.values()
    if operation.body:
        can_come += [*WITH_BODY.values(), HTTP[413], HTTP[415]]
    found: dict[int, list[str]] = defaultdict(list)
    for each in sorted(set(can_come), key=lambda each: (each.status, each.code)):
        found[each.status].append(each.code)
    return found


def _answer(answer: Answer, schemas: _Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {"description": answer.meaning, "headers": _named([*ALWAYS, *answer.headers])}
    if answer.model:
        schema = schemas.of(answer.model, "serialization")
        described["content"] = {"application/json": {"schema": schema}}
    return described


def _refusal(status: int, codes: Sequence[str]) -> dict[str, Any]:
    return {
        "description": f"{HTTPStatus(status).phrase}: {', '.join(codes)}",
        "headers": _named([*ALWAYS, *OF_PROBLEMS.get(status, ())]),
        "content": {"application/problem+json": {"schema": {"$ref": REF.format(model=ProblemDetails.__name__)}}},
    }


def _named(headers: Iterable[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


def _path(operation: Operation) -> Iterable[dict[str, Any]]:
    for name in re.findall("<([a-z_]+)>", operation.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query(operation: Operation) -> Iterable[dict[str, Any]]:
    schema = operation.query.model_json_schema() if operation.query else {}
    for name, each in schema.get("properties", {}).items():
        about = {"description": each.pop("description")} if "description" in each else {}
        each.pop("title", None)
        yield {"name": name, "in": "query", "required": name in schema.get("required", ()), **about, "schema": each}


def _headers(operation: Operation) -> Iterable[dict[str, Any]]:
    for name in operation.headers:
        yield {"name": name, "in": "header", "required": False, **REQUEST_HEADERS[name]}
