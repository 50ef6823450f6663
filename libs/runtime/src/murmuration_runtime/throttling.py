"""What DynamoDB throttles, and writes that met a transaction: counted by table and index at the client itself.

Rule: botocore tries again by itself, and a caller's error names no table. So each answer is looked at where it
comes in, whoever asked; a request is read again only when its answer is no.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from prometheus_client import Counter

from murmuration_runtime.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

THROTTLED = Counter(
    "dynamodb_throttled",
    "Requests, and items of batches and transactions, that DynamoDB throttled or that met a transaction.",
    ["table", "index", "reason"],
    registry=METRICS,
)
_THROTTLING = {"LimitExceeded", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "Throttling"}
_MEETING = {"ReplicatedWriteConflict", "TransactionConflict", "TransactionInProgress"}
_PLACE = re.compile(r"table/(?P<table>[^/|]+)(?:/index/(?P<index>[^/|]+))?")

Client = TypeVar("Client")


def count_throttling(made: Client) -> Client:
    """Have every answer to this client counted that says no for one of these reasons; DynamoDB's or its streams'."""
    events: Any = made
    service = events.meta.service_model.service_id.hyphenize()
    events.meta.events.register(f"needs-retry.{service}", _look, unique_id="count-throttling")
    return made


def throttled(codes: Collection[str | None]) -> bool:
    """Return whether a transaction was cancelled by throttling, from the codes of its reasons."""
    return any(_reason(code) in _THROTTLING for code in codes if code)


def _look(response: Any, request_dict: dict[str, Any], **_: object) -> None:
    """Count what the answer says no to. It is called for each try; whether there is another is for others to say."""
    if response is None:
        return
    answer = response[1]
    for table in {**answer.get("UnprocessedKeys", {}), **answer.get("UnprocessedItems", {})}:
        THROTTLED.labels(table, "", "Unprocessed").inc()
    if code := answer.get("Error", {}).get("Code"):
        for table, index, reason in _told(_reason(code), answer, json.loads(request_dict["body"] or "{}")):
            THROTTLED.labels(table, index, reason).inc()


def _told(reason: str, answer: dict[str, Any], request: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    if reason == "TransactionCanceled":
        actions = [next(iter(action.values())) for action in request.get("TransactItems", ())]
        for action, cause in zip(actions, answer.get("CancellationReasons", ()), strict=False):
            if (why := _reason(cause.get("Code") or "")) in _THROTTLING | _MEETING:
                yield action["TableName"], "", why
    elif reason in _THROTTLING | _MEETING:
        causes = [*answer.get("ThrottlingReasons", ()), *answer.get("throttlingReasons", ())]
        named = [found for cause in causes if (found := _PLACE.search(cause.get("resource", "")))]
        for found in named:
            yield found["table"], found["index"] or "", reason
        for table in () if named else _tables(request):
            yield table, request.get("IndexName", ""), reason


def _tables(request: dict[str, Any]) -> set[str]:
    """Return the tables that a request names; of a stream, its table's."""
    if found := _PLACE.search(request.get("StreamArn") or request.get("ShardIterator") or ""):
        return {found["table"]}
    actions = [next(iter(action.values())) for action in request.get("TransactItems", ())]
    named = {*request.get("RequestItems", ()), *(action["TableName"] for action in actions)}
    return named or {request.get("TableName", "")}


def _reason(code: str) -> str:
    return code.rpartition("#")[2].removesuffix("Exception").removesuffix("Error")
