"""What a change of an OpenAPI document breaks for clients that were built on the older one. Pure.

Rule: a client may go on sending whatever the old document allows, and meets nothing that it could not know. So requests
may only become wider and answers narrower; but answers may gain fields and headers, and operations refusals: a client
ignores the fields and headers that it does not know, and takes an unknown problem for what its status says. Names of
schemas may change, names of operations may not: clients that are generated call them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from murmuration_testkit.schema_changes import Change, Document, Schema

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
NOT_MODIFIED = "304"  # is answered only to clients that send If-None-Match
FIRST_REFUSAL = 400
PROBLEM = "application/problem+json"
WORDS = ("description", "bearerFormat")  # what a security scheme says to people alone
HERE = [{"url": "/"}]  # a document without servers


def breaking_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return a line for each change that breaks clients of the old document: where, and what."""
    comparison = _Comparison(Document(old), Document(new))
    found = [*comparison.access()]
    for path, item in old["paths"].items():
        for method in (each for each in METHODS if each in item):
            where = f"{method.upper()} {path}"
            after = new["paths"].get(path, {}).get(method)
            found += comparison.operation(where, item[method], after) if after else [f"{where}: is no longer there"]
    return found


class _Comparison:
    """Of two documents; every method says what of a part is broken."""

    def __init__(self, old: Document, new: Document) -> None:
        self._old = old
        self._new = new
        self._requests = Change(old, new, answer=False)
        self._answers = Change(new, old, answer=True)

    def access(self) -> Iterator[str]:
        servers = [each["url"] for each in self._new.whole.get("servers", HERE)]
        for server in self._old.whole.get("servers", HERE):
            if server["url"] not in servers:
                yield f"the server {server['url']} is no longer there"
        schemes = _schemes(self._new)
        for name, scheme in _schemes(self._old).items():
            if schemes.get(name) != scheme:
                yield f"the security scheme {name} has changed"

    def operation(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        if "operationId" in old and new.get("operationId") != old["operationId"]:
            yield f"{where}: is no longer called {old['operationId']}"
        yield from self._security(where, old, new)
        yield from self._parameters(where, old, new)
        yield from self._body(where, old.get("requestBody", {}), new.get("requestBody", {}))
        for status, answer in old["responses"].items():
            if status in new["responses"]:
                yield from self._answer(f"{where}: {status}", answer, new["responses"][status])
            else:
                yield f"{where}: {status} is no longer answered"
        for status in new["responses"].keys() - old["responses"].keys() - {NOT_MODIFIED}:
            if not status.isdecimal() or int(status) < FIRST_REFUSAL:
                yield f"{where}: {status} may be answered now"

    def _security(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        enough = new.get("security", self._new.whole.get("security", [{}]))
        for each in old.get("security", self._old.whole.get("security", [{}])):
            if each not in enough:
                yield f"{where}: {' and '.join(each) or 'no token'} is no longer enough"

    def _parameters(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        before, after = _by_place(self._old, old), _by_place(self._new, new)
        for place, parameter in before.items():
            if place in after:
                schemas = parameter["schema"], after[place]["schema"]
                yield from self._requests.unreadable(*schemas, f"{where}: {place}")
            else:
                yield f"{where}: {place} is no longer taken"
        for place, parameter in after.items():
            if parameter.get("required") and not before.get(place, {}).get("required"):
                yield f"{where}: {place} is required now"

    def _body(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        before, after = self._old.resolved(old), self._new.resolved(new)
        if after.get("required") and not before.get("required"):
            yield f"{where}: a body is required now"
        taken = after.get("content", {})
        for media, content in before.get("content", {}).items():
            if media in taken:
                yield from self._requests.unreadable(content["schema"], taken[media]["schema"], f"{where}: body")
            else:
                yield f"{where}: a body of {media} is no longer taken"

    def _answer(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        before, after = self._old.resolved(old), self._new.resolved(new)
        headers, content = after.get("headers", {}), after.get("content", {})
        for name, header in before.get("headers", {}).items():
            if name in headers:
                now, was = self._new.resolved(headers[name]), self._old.resolved(header)
                if was.get("required") and not now.get("required"):
                    yield f"{where} {name}: may be missing now"
                yield from self._answers.unreadable(now["schema"], was["schema"], f"{where} {name}")
            else:
                yield f"{where} {name}: is no longer there"
        for media, was in before.get("content", {}).items():
            if media not in content:
                yield f"{where}: {media} is no longer answered"
            elif media == PROBLEM:
                yield from self._problems(where, was["schema"], content[media]["schema"])
            else:
                yield from self._answers.unreadable(content[media]["schema"], was["schema"], f"{where} body")

    def _problems(self, where: str, old: Schema, new: Schema) -> Iterator[str]:
        answered = _by_code(self._new, new)
        for code, was in _by_code(self._old, old).items():
            if code in answered:
                yield from self._answers.unreadable(answered[code], was, f"{where} {code}")
            else:
                yield f"{where}: the code {code} is no longer answered"


def _schemes(document: Document) -> dict[str, Schema]:
    schemes = document.whole.get("components", {}).get("securitySchemes", {})
    return {name: {key: each[key] for key in each if key not in WORDS} for name, each in schemes.items()}


def _by_place(document: Document, operation: Schema) -> dict[str, Schema]:
    parameters = [document.resolved(each) for each in operation.get("parameters", [])]
    return {f"{each['in']} {each['name']}": each for each in parameters}


def _by_code(document: Document, problem: Schema) -> dict[str, Schema]:
    kinds = document.alternatives(problem)
    return {each.get("properties", {}).get("code", {}).get("const", "of any problem"): each for each in kinds}
