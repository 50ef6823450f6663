"""Whether what is sent by one JSON schema can be read by another. Pure.

Rule: every limit that the reader's schema sets must follow from the sender's. What cannot be shown to follow is named:
better a false alarm than a break that nobody saw. Nobody sends a field that their schema does not name. A client
ignores the fields that it does not know, and misses those that are gone; a service refuses what it does not know.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

Schema = Mapping[str, Any]
ANNOTATIONS = {"title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly"}
AT_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
STRUCTURE = {"type", "enum", "const", "properties", "required", "additionalProperties", "items"}


class Document:
    """An OpenAPI document, whose parts refer to each other."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self.whole = whole

    def resolved(self, part: Schema) -> Schema:
        """Return what stands at the end of a part's references."""
        while "$ref" in part:
            found: Any = self.whole
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
            part = {**found, **{name: each for name, each in part.items() if name != "$ref"}}
        return part

    def alternatives(self, schema: Schema) -> list[Schema]:
        """Return schemas of at most one type each, of which a value has to match one. oneOf is read as anyOf."""
        schema = self.resolved(schema)
        choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        if choices:
            rest = {name: each for name, each in schema.items() if name not in ("anyOf", "oneOf")}
            branches = (self.alternatives(branch) for branch in choices)
            return [each for branch in branches for one in branch for each in self.alternatives({**rest, **one})]
        if isinstance(schema.get("type"), list):
            return [{**schema, "type": each} for each in schema["type"]]
        return [schema]

    def allows(self, schema: Schema, value: object) -> bool:
        """Tell whether a value is as the schema says."""
        return bool(Draft202012Validator({**schema, "components": self.whole.get("components", {})}).is_valid(value))


class Change:
    """From one document to another, as it concerns what is sent by the one and read by the other."""

    def __init__(self, sender: Document, reader: Document, *, answer: bool) -> None:
        """answer: the sender is the service and the reader a client; else it is the other way round."""
        self._sender = sender
        self._reader = reader
        self._answer = answer

    def unreadable(self, sent: Schema, read: Schema, where: str) -> Iterator[str]:
        """Say what may be sent and cannot be read, a line for each; nothing if everything can."""
        readable = self._reader.alternatives(read)
        for one in self._sender.alternatives(sent):
            faults = [[*self._unreadable(one, other, where)] for other in readable]
            if all(faults):
                same = [
                    each for each, other in zip(faults, readable, strict=True) if one.get("type") == other.get("type")
                ]
                yield from same[0] if same else faults[0]

    def _unreadable(self, sent: Schema, read: Schema, where: str) -> Iterator[str]:
        values = sent.get("enum", [sent["const"]] if "const" in sent else None)
        if values is not None:
            yield from (self._lost(where, json.dumps(v)) for v in values if not self._reader.allows(read, v))
            return
        if "enum" in read or "const" in read:
            yield self._lost(where, f"what is not {json.dumps(read.get('enum', read.get('const')))}")
            return
        if "type" in read and not _is(sent.get("type"), read["type"]):
            yield self._lost(where, f"{sent.get('type', 'any type')} in place of {read['type']}")
            return
        yield from self._limits(sent, read, where)
        yield from self._fields(sent, read, where)
        if "items" in read:
            yield from self.unreadable(sent.get("items", {}), read["items"], f"{where}[]")

    def _limits(self, sent: Schema, read: Schema, where: str) -> Iterator[str]:
        for name, limit in read.items():
            has = sent.get(name)
            if name in ANNOTATIONS | STRUCTURE or name.startswith("x-"):
                continue
            if name in AT_LEAST and has is not None and has >= limit:
                continue
            if name in AT_MOST and has is not None and has <= limit:
                continue
            if has != limit:
                yield self._lost(where, f"{name} {json.dumps(has)} in place of {json.dumps(limit)}")

    def _fields(self, sent: Schema, read: Schema, where: str) -> Iterator[str]:
        sends, reads = sent.get("properties", {}), read.get("properties", {})
        for name in set(read.get("required", ())) - set(sent.get("required", ())):
            yield f"{where}.{name}: may be missing now" if self._answer else f"{where}.{name}: is required now"
        for name, schema in sends.items():
            if name in reads:
                yield from self.unreadable(schema, reads[name], f"{where}.{name}")
            elif not self._answer:
                yield f"{where}.{name}: is no longer taken"
        if self._answer:
            yield from (f"{where}.{name}: is no longer there" for name in reads if name not in sends)
        others, taken = sent.get("additionalProperties"), read.get("additionalProperties")
        if isinstance(others, dict) and isinstance(taken, dict):
            yield from self.unreadable(others, taken, f"{where}.*")
        elif isinstance(taken, dict) and self._answer:
            yield f"{where}.*: is no longer there"
        elif isinstance(others, dict) and not self._answer:
            yield f"{where}.*: is no longer taken"

    def _lost(self, where: str, what: str) -> str:
        return f"{where}: {what} may be answered now" if self._answer else f"{where}: {what} is no longer taken"


def _is(sent: str | None, read: str) -> bool:
    return sent == read or (sent, read) == ("integer", "number")
