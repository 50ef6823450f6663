"""A pass over a table's rows, page by page, at a pace: each becomes what a migration makes of it.

Rule: a page's rows are written, each on the condition that it is as it was seen, before the place behind the page is
saved. So a pass that is killed, whenever it is, goes on at the last page, and what it does twice changes nothing.
"""

import time
from collections.abc import Callable
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from contracts.migrations import Change, NotYetError, Row
from migrating.dynamo_record import Key, Pass
from migrating.errors import PassError
from migrating.writes import writes

PAGE = 100
TRIES = 10  # for a row that somebody writes again and again
LONGEST_PAUSE_S = 5.0
PATIENCE_S = 120.0  # without one answer
NOT_AS_SEEN = {"ConditionalCheckFailedException", "TransactionCanceledException"}
PASSING = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "Throttling",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",
}
PASSING_REASONS = {"ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}


class Pace(Protocol):
    """Lets so many calls a second pass; murmuration_runtime.retries.Pace."""

    def wait(self) -> None:
        """Return when the next may go."""


class Fate(Enum):
    """What became of a row."""

    SAME = auto()
    CHANGED = auto()
    LEFT = auto()


class Sweep:
    """One migration's pass over one table."""

    def __init__(
        self,
        dynamodb: Any,
        table: str,
        key: tuple[str, ...],
        looked: tuple[str, ...],
        change: Change,
        pace: Pace,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the attributes that the change looks at, besides the key."""
        self._dynamodb = dynamodb
        self._table = table
        self._key = key
        self._looked = looked
        names = {f"#r{number}": name for number, name in enumerate((*key, *looked))}
        self._read_as = {
            "TableName": table,
            "ConsistentRead": True,
            "ProjectionExpression": ", ".join(names),
            "ExpressionAttributeNames": names,
        }
        self._change = change
        self._pace = pace
        self._sleep = sleep
        self._clock = clock
        self.why_left = ""

    def page(self, before: Pass) -> Pass:
        """Do the page behind the place that was saved; return what is to be saved next, without a cursor at the end."""
        start = {"ExclusiveStartKey": before.cursor} if before.cursor else {}
        found = self._answer(self._dynamodb.scan, Limit=PAGE, **self._read_as, **start)
        fates = [self._migrate(row) for row in found["Items"]]
        return Pass(
            found.get("LastEvaluatedKey"),
            before.seen + len(fates),
            before.changed + fates.count(Fate.CHANGED),
            before.left + fates.count(Fate.LEFT),
        )

    def _migrate(self, row: Row) -> Fate:
        """Have one row as it should be, whoever else writes it meanwhile."""
        there: Row | None = row
        for _ in range(TRIES):
            if there is None:
                return Fate.SAME
            try:
                actions = writes(there, self._change(there), self._key, self._looked)
            except NotYetError as error:
                self.why_left = str(error)
                return Fate.LEFT
            if not actions:
                return Fate.SAME
            if self._write(actions):
                return Fate.CHANGED
            there = self._read({name: row[name] for name in self._key})
        self.why_left = f"somebody writes it again and again: {row}"
        return Fate.LEFT

    def _write(self, actions: list[dict[str, Any]]) -> bool:
        """Write all or nothing; False if a row is not as it was seen."""
        tabled = [{kind: {"TableName": self._table, **words}} for it in actions for kind, words in it.items()]
        try:
            if len(tabled) > 1:
                self._answer(self._dynamodb.transact_write_items, TransactItems=tabled)
            else:  # at half the price
                ((kind, words),) = tabled[0].items()
                self._answer(getattr(self._dynamodb, f"{kind.lower()}_item"), **words)
        except ClientError as error:
            if error.response["Error"]["Code"] not in NOT_AS_SEEN:
                raise
            return False
        return True

    def _read(self, key: Key) -> Row | None:
        row: Row | None = self._answer(self._dynamodb.get_item, Key=key, **self._read_as).get("Item")
        return row

    def _answer(self, call: Callable[..., Any], **words: Any) -> Any:
        """Call at the pace, and again after growing pauses while DynamoDB throttles or is away."""
        pause, deadline = 0.05, self._clock() + PATIENCE_S
        while True:
            self._pace.wait()
            try:
                return call(**words)
            except BotoCoreError as error:
                trouble: Exception = error
            except ClientError as error:
                if not _passing(error):
                    raise
                trouble = error
            if self._clock() > deadline:
                raise PassError(f"no answer for {PATIENCE_S:.0f} s: {trouble}") from trouble
            self._sleep(pause)
            pause = min(LONGEST_PAUSE_S, 2 * pause)


def _passing(error: ClientError) -> bool:
    """Tell whether the same call may do better later: DynamoDB throttles, is in trouble, or had transactions meet."""
    code = error.response["Error"]["Code"]
    cancelled: Any = error.response.get("CancellationReasons", ())
    reasons = {each.get("Code") for each in cancelled}
    if reasons & PASSING_REASONS and "ConditionalCheckFailed" not in reasons:
        return True
    return code in PASSING or error.response["ResponseMetadata"]["HTTPStatusCode"] >= HTTPStatus.INTERNAL_SERVER_ERROR
