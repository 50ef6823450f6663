"""Write the OpenAPI document of the whole API, which the gateway serves. `make openapi` runs it.

Rule: it is the documents of the edges, side by side. A name that two of them have means the same in both.
"""

import importlib
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any

from murmuration_edge.openapi import document
from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

FILE = REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json"
INFO = {
    "title": "Murmuration",
    "version": "1",
    "description": "Who follows whom, and what they say. Every path needs a bearer token, whose `sub` is the caller.",
}
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
    _refuse_twins("the operation", ((where, service) for where, _, service in operations))
    _refuse_twins("the operationId", ((operation["operationId"], service) for _, operation, service in operations))
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


def text() -> str:
    """Return what the file must hold."""
    return json.dumps(merged(documents()), indent=1, ensure_ascii=False) + "\n"


def _components(kind: str, parts: Mapping[str, Document]) -> Document:
    together: Document = {}
    owners: dict[str, str] = {}
    for service, part in parts.items():
        for name, component in part["components"][kind].items():
            if together.setdefault(name, component) != component:
                raise SameNameError(
                    f"{owners[name]} and {service} describe {name} differently: rename one, or mend it."
                )
            owners.setdefault(name, service)
    return dict(sorted(together.items()))


def _refuse_twins(kind: str, names: Iterable[tuple[str, str]]) -> None:
    owners: dict[str, str] = {}
    for name, service in names:
        if name in owners:
            raise SameNameError(f"{owners[name]} and {service} both have {kind} {name!r}: rename one.")
        owners[name] = service


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
    print(f"wrote {FILE.relative_to(REPOSITORY)}")
