"""Whether an answer is what an OpenAPI document says. Pure.

Rule: a status, header, content type or field that is not described is a fault; so is a promised header or body that is
missing. A path or a method that the document does not have may be answered with a 4xx problem, and OPTIONS with
anything. The document allows more fields, so that clients tolerate new ones; this check forbids them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

Headers = Mapping[str, str]
PARAMETER = re.compile(r"\\\{[a-z_]+\\\}")
PROBLEM = "application/problem+json"
NOT_ALLOWED = 405
SCHEMA_OF_PROBLEMS = {"$ref": "#/components/schemas/ProblemDetails"}
GENERAL_HEADERS = re.compile(  # headers that say nothing of this API
    "content-(type|length|encoding)|transfer-encoding|date|server|connection|vary|cache-control"
    "|x-content-type-options|strict-transport-security|access-control-.*"
)


class Described:
    """One document, read for comparing; each schema is compiled once."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._components = document["components"]
        self._closed = {name: _closed(schema) for name, schema in self._components["schemas"].items()}
        self._paths = [
            (re.compile(PARAMETER.sub("[^/]+", re.escape(path))), path)
            for path in sorted(document["paths"], key=lambda path: path.count("{"))
        ]
        self._operations = {
            (path, method): operation
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        }
        self._validator = cache(self._compile)

    def faults(self, method: str, path: str, status: int, headers: Headers, body: bytes) -> list[str]:
        """Return what is wrong with an answer to this request, one line each; the path is as it was sent."""
        path = path.partition("?")[0]
        if method == "OPTIONS" or not path.startswith("/v1/"):
            return []
        asked = "get" if method == "HEAD" else method.lower()
        matching = [known for pattern, known in self._paths if pattern.fullmatch(path)]
        with_method = [known for known in matching if (known, asked) in self._operations]  # as Flask routes
        template = [*with_method, *matching, path][0]
        operation = self._operations.get((template, asked))
        where = f"{method} {template}: {status}"
        content = None if method == "HEAD" else body
        sent = {name.lower(): value for name, value in headers.items()}
        if operation is None:
            found = self._unknown(status, sent, content)
        elif answer := operation["responses"].get(str(status)):
            found = [*self._headers(answer["headers"], sent), *self._content(answer.get("content", {}), sent, content)]
        else:
            found = ["is not described"]
        return [f"{where}: {fault}" for fault in found]

    def _unknown(self, status: int, sent: Headers, content: bytes | None) -> list[str]:
        if 400 <= status < 500:  # noqa: PLR2004
            missing = ["the header Allow is missing"] if status == NOT_ALLOWED and "allow" not in sent else []
            return [*missing, *self._content({PROBLEM: {"schema": SCHEMA_OF_PROBLEMS}}, sent, content)]
        return ["is not described, neither the path nor the method"]

    def _headers(self, described: Mapping[str, Any], sent: Headers) -> Iterator[str]:
        for name in sent:
            if not GENERAL_HEADERS.fullmatch(name) and name not in map(str.lower, described):
                yield f"the header {name} is not described"
        for name in described:
            about, value = self._components["headers"][name], sent.get(name.lower())
            if value is None and about["required"]:
                yield f"the header {name} is missing"
            if value is not None:
                number = about["schema"]["type"] == "integer" and value.isdecimal()
                yield from self._validate(json.dumps(about["schema"]), int(value) if number else value, name)

    def _content(self, described: Mapping[str, Any], sent: Headers, content: bytes | None) -> Iterator[str]:
        if not described:
            if content:
                yield f"has a body, which is not described: {content[:100]!r}"
            return
        kind = sent.get("content-type", "")
        if kind not in described:
            yield f"is {kind or 'of no type'}, not {' or '.join(described)}"
        elif content == b"":
            yield "has no body"
        elif content is not None:
            yield from self._validate(json.dumps(described[kind]["schema"]), json.loads(content), "the body")

    def _validate(self, schema: str, value: object, name: str) -> Iterator[str]:
        for error in self._validator(schema).iter_errors(value):
            at = "".join(f"/{step}" for step in error.instance_path)
            yield f"{name}{at}: {error.message}"[:1000]

    def _compile(self, schema: str) -> Draft202012Validator:
        whole = {**json.loads(schema), "components": {"schemas": self._closed}}
        return Draft202012Validator(whole, validate_formats=True)


def _closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that refuses fields which it does not name."""
    return {**schema, "additionalProperties": False} if "properties" in schema else schema
