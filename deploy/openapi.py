"""Write the OpenAPI document of the whole API, which the gateway serves. `make openapi` runs it.

Rule: it is the documents of the edges, side by side, and what the gateway refuses by itself. A name that two of them
have means the same in both.
"""

import importlib
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from murmuration_gateway.problems import PROBLEMS

from murmuration_edge.headers import referred
from murmuration_edge.openapi import document
from murmuration_edge.problems import Problem
from murmuration_edge.schemas import REF, name_of, one_kind, statuses_of
from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

FILE = REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json"
INFO = {
    "title": "Murmuration",
    "version": "1",
    "description": "Who follows whom, and what they say. Every path needs a bearer token, whose `sub` is the caller. "
    "Plain HTTP may be answered with 308 on every path: ask by HTTPS.",
}
NOT_OF_THE_API = {"no-route", "precondition-failed"}  # of paths that it does not have, and of pages
KIND = "application/problem+json"
Document = dict[str, Any]


class SameNameError(Exception):
    """Two edges mean different things by one name: which, and what to do."""


def documents() -> Mapping[str, Document]:
    """Return the document of each edge, by its name. No store is needed: what is described is never called."""
    made = {}
    for service in SERVICES.values():
        if service.is_edge:
            api = importlib.import_module(f"{service.package}.api")
            nothing = [None] * len(inspect.signature(api.operations).parameters)
            made[service.name] = document(service.name, "", api.operations(*nothing), api.PROBLEMS)
    return made


def merged(parts: Mapping[str, Document]) -> Document:
    """Return one document of all."""
    first, *_ = parts.values()
    operations = [
        (f"{method.upper()} {path}", operation, service)
        for service, part in parts.items()
        for path, methods in part["paths"].items()
        for method, operation in methods.items()
    ]
    _require_unique_names("the operation", ((where, service) for where, _, service in operations))
    ids = ((operation["operationId"], service) for _, operation, service in operations)
    _require_unique_names("the operationId", ids)
    paths: Document = {}
    for part in parts.values():
        for path, methods in part["paths"].items():
            paths.setdefault(path, {}).update(methods)
    return {
        **first,
        "info": INFO,
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {kind: _components(kind, parts) for kind in first["components"]},
    }


def with_gateway_problems(whole: Document, gateway: Sequence[Problem]) -> Document:
    """Return the document with the gateway's own problems added to every operation."""
    schemas = dict(whole["components"]["schemas"])
    for code, kinds in groupby(sorted(gateway, key=lambda each: each.code), lambda each: each.code):
        also = [Problem(status, code) for status in statuses_of(schemas.get(name_of(code), {}))]
        schemas[name_of(code)] = one_kind(schemas, *kinds, *also)
    paths = {
        path: {
            method: {**operation, "responses": _refused(operation["responses"], gateway)}
            for method, operation in methods.items()
        }
        for path, methods in whole["paths"].items()
    }
    return {**whole, "paths": paths, "components": {**whole["components"], "schemas": dict(sorted(schemas.items()))}}


def text() -> str:
    """Return what the file must hold."""
    gateway = [Problem(each.status, each.code) for each in PROBLEMS if each.code not in NOT_OF_THE_API]
    return json.dumps(with_gateway_problems(merged(documents()), gateway), indent=1, ensure_ascii=False) + "\n"


def _refused(responses: Document, gateway: Sequence[Problem]) -> Document:
    """Return an operation's responses, and these."""
    by_status = dict(responses)
    for problem in gateway:
        status, schema = str(problem.status), {"$ref": REF.format(model=name_of(problem.code))}
        response = by_status.get(status) or {
            "description": "",
            "headers": referred([]),
            "content": {KIND: {"schema": {}}},
        }
        before = response["content"][KIND]["schema"]
        each = before.get("oneOf", [before] if before else [])
        if schema not in each:
            codes = [*filter(None, response["description"].split(", ")), problem.code]
            each = sorted([*each, schema], key=lambda it: it["$ref"])
            content = {KIND: {"schema": each[0] if len(each) == 1 else {"oneOf": each}}}
            by_status[status] = {**response, "description": ", ".join(sorted(codes)), "content": content}
    return dict(sorted(by_status.items()))


def _components(kind: str, parts: Mapping[str, Document]) -> Document:
    together: Document = {}
    owners: dict[str, str] = {}
    for service, part in parts.items():
        for name, component in part["components"][kind].items():
            if (before := together.setdefault(name, component)) != component:
                together[name] = _problem_of_both(before, component)
                if together[name] is None:
                    raise SameNameError(
                        f"{owners[name]} and {service} describe {name} differently: rename one, or mend it."
                    )
            owners.setdefault(name, service)
    return dict(sorted(together.items()))


def _problem_of_both(one: Document, other: Document) -> Document | None:
    """Return the schema of a problem that two services answer with other statuses; None if they differ in more."""
    statuses = sorted({*statuses_of(one), *statuses_of(other)})
    both = [
        {**each, "properties": {**each.get("properties", {}), "status": {"type": "integer", "enum": statuses}}}
        for each in (one, other)
    ]
    return both[0] if both[0] == both[1] and statuses else None


def _require_unique_names(kind: str, names: Iterable[tuple[str, str]]) -> None:
    owners: dict[str, str] = {}
    for name, service in names:
        if name in owners:
            raise SameNameError(f"{owners[name]} and {service} both have {kind} {name!r}: rename one.")
        owners[name] = service


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
    print(f"wrote {FILE.relative_to(REPOSITORY)}")
