"""Holds each service to schemas/tables while a test runs its code; a plugin of pytest, on in every run.

Rule: an attribute is written only by a service that its file names in `written_by`, and read, in a row that came or by
an expression, only by one in `read_by`; an update raises the attribute that the file calls `version`. DynamoDB is asked
only for the actions under `access`, and for nothing that IAM would refuse by the service's policy in deploy/aws. Who
asks is the innermost package of a service on the stack, so what a test itself does to a table is free.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from contracts.table_files import TableFile, load
from contracts.topic import DATA
from murmuration_runtime import dynamo
from murmuration_testkit.iam import asks, refusal, single, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FILES = load(DATA)
PACKAGES = {service.replace("-", "_"): service for file in FILES.values() for service in file.access}
TESTS = re.compile(r"/(tests|bench|drills)/")
CLAUSES = re.compile(r"\b(SET|REMOVE|ADD|DELETE)\b")
violations: list[str] = []


def pytest_configure() -> None:
    """Listen to every client that a service makes from now on."""
    session: Any = dynamo.session()
    session.register("before-parameter-build.dynamodb", _asked)
    session.register("before-parameter-build.dynamodb-streams", _asked_stream)
    session.register("after-call.dynamodb", _answered)


@pytest.fixture(autouse=True)
def rows_are_touched_as_their_files_say() -> Iterator[None]:
    """Fail the test in which a service touched what is not its own."""
    yield
    found = [*dict.fromkeys(violations)]
    violations.clear()
    assert not found, "\n".join(found)  # noqa: S101


class Use:
    """One service's use of one table."""

    def __init__(self, service: str, table: str) -> None:
        """Take the table by its full name, prefix and all; one that no file describes is a test's own."""
        self._service = service
        self._file = next((file for name, file in FILES.items() if table.endswith(name)), None)

    def action(self, action: str, part: str = "table") -> None:
        """Note an action on the table, on its stream, or on an index."""
        if self._file and action not in self._file.access.get(self._service, {}).get(part, ()):
            self._broken(self._file, f"{action} on {part}", "under access")

    def writes(self, names: Iterable[str]) -> None:
        """Note attributes that change."""
        self._touches(names, "written_by")

    def reads(self, names: Iterable[str]) -> None:
        """Note attributes that are looked at."""
        self._touches(names, "read_by")

    def updates(self, expression: str, names: Mapping[str, str], values: Mapping[str, Any]) -> None:
        """Note what an UpdateExpression writes, what it reads of other attributes, and that it raises no version."""
        raised = {}
        _, *clauses = CLAUSES.split(expression)
        for clause, text in zip(clauses[::2], clauses[1::2], strict=True):
            for step in re.split(r",(?![^(]*\))", text):
                target, *sources = words(step, names)
                self.writes([target])
                if clause == "SET":
                    self.reads({*sources} - {target})
                if clause == "ADD":
                    raised[target] = values.get(step.split()[-1])
        if self._file and self._file.version and raised.get(self._file.version) != {"N": "1"}:
            violations.append(f"{self._service} updates {self._file.name} and does not ADD 1 to {self._file.version}")

    def _touches(self, names: Iterable[str], how: str) -> None:
        if self._file is None:
            return
        for name in names:
            if self._service not in getattr(self._file.attributes.get(name), how, ()):
                self._broken(self._file, f"{name}", how)

    def _broken(self, file: TableFile, what: str, where: str) -> None:
        violations.append(f"{self._service} uses {what}, and tables/{file.name}.yaml does not name it {where}")


class Row(dict[str, Any]):
    """A row that came, which notes what a service looks at."""

    def __init__(self, content: dict[str, Any], table: str) -> None:
        super().__init__(content)
        self._table = table

    def __getitem__(self, name: str) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._note(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute's value if it is there."""
        self._note(name)
        return super().get(name, default)

    def _note(self, name: str) -> None:
        if service := asking():
            Use(service, self._table).reads([name])


def asking() -> str | None:
    """Return the service whose code is running; None if a test, a benchmark or a drill comes first."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        if TESTS.search(frame.f_code.co_filename):
            return None
        if service := PACKAGES.get(frame.f_globals.get("__name__", "").partition(".")[0]):
            return service
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _asked(params: dict[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
    service = asking()
    if service is None:
        return
    context["row_guard_table"] = params.get("TableName")
    before = len(violations)
    for action, table, request in single(model.name, params):
        use = Use(service, table)
        use.action(action, request.get("IndexName", "table"))
        names = request.get("ExpressionAttributeNames", {})
        use.writes(request.get("Item", ()))
        if "UpdateExpression" in request:
            use.updates(request["UpdateExpression"], names, request.get("ExpressionAttributeValues", {}))
        for kind in ("Condition", "KeyCondition", "Filter", "Projection"):
            use.reads(words(request.get(f"{kind}Expression", ""), names))
    if len(violations) == before:
        _allowed(service, model.name, params)


def _asked_stream(params: dict[str, Any], model: Any, **_: object) -> None:
    where = re.search(r"table/([^/]+)/stream/", params.get("StreamArn", params.get("ShardIterator", "")))
    if (service := asking()) and where:
        Use(service, where[1]).action(model.name, "stream")


def _allowed(service: str, operation: str, params: dict[str, Any]) -> None:
    """Note what IAM would refuse."""
    violations.extend(refused for ask in asks(operation, params) if (refused := refusal(service, ask)))


def _answered(parsed: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    if table := context.get("row_guard_table"):
        for name in {"Item", "Attributes"} & parsed.keys():
            parsed[name] = Row(parsed[name], table)
        if "Items" in parsed:
            parsed["Items"] = [Row(row, table) for row in parsed["Items"]]
    for table, rows in parsed.get("Responses", {}).items():
        parsed["Responses"][table] = [Row(row, table) for row in rows]
