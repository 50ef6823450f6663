"""Worker numbers, reserved in DynamoDB: claimed, never configured.

Rule: a number's row says until when its ids are spoken for. Who renews moves that on before making such ids; who claims
a number that ran out begins there, whatever its own clock says.
"""

import logging
import random
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.tables import WORKER_IDS
from murmuration_runtime.dynamo import errors_named
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.readiness import Readiness
from tweet_service.snowflake import WORKERS, Reservation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SPAN_MS = 30_000
PAUSE = 5.0
_log = logging.getLogger(__name__)


class DynamoWorkerIds:
    """Numbers in the table worker_ids, for one process."""

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        table_prefix: str,
        now: Callable[[], int],
        workers: Sequence[int] = range(WORKERS),
    ) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{WORKER_IDS.name}"
        self._now = now
        self._workers = workers
        self._owner = ""

    def claim(self) -> Reservation:
        """Reserve a number that is free or ran out, under a name that no process had before."""
        self._owner = uuid.uuid4().hex
        for worker in random.sample(self._workers, len(self._workers)):
            if reservation := self._reserve(worker, "attribute_not_exists(until_ms) OR until_ms < :now"):
                _log.info("worker number claimed", extra={"worker": worker, "until_ms": reservation.until_ms})
                return reservation
        raise StoreAwayError(f"all {len(self._workers)} worker numbers are taken")

    def renew(self, held: Reservation) -> Reservation | None:
        """Reserve more time for a number that is held; None if somebody else has it."""
        moved = self._reserve(held.worker, "#owner = :owner", held.until_ms)
        return replace(held, until_ms=moved.until_ms) if moved else None

    def _reserve(self, worker: int, condition: str, at_least: int = 0) -> Reservation | None:
        """Move the row on, never back; what it said before is where the new span may begin."""
        now = self._now()
        until = max(now + SPAN_MS, at_least)
        values: dict[str, Any] = {":owner": {"S": self._owner}, ":until": {"N": str(until)}}
        if ":now" in condition:
            values[":now"] = {"N": str(now)}
        with errors_named(), suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            old = self._dynamodb.update_item(
                TableName=self._table,
                Key={WORKER_IDS.worker_id: {"N": str(worker)}},
                UpdateExpression="SET #owner = :owner, until_ms = :until",
                ConditionExpression=condition,
                ExpressionAttributeNames={"#owner": WORKER_IDS.owner},
                ExpressionAttributeValues=values,
                ReturnValues="UPDATED_OLD",
            ).get("Attributes", {})
            return Reservation(worker, int(old.get(WORKER_IDS.until_ms, {"N": "0"})["N"]), until)
        return None


def keep_reserved(ids: DynamoWorkerIds, reserve: Callable[[Reservation], None], readiness: Readiness) -> None:
    """Hold a number for as long as the process lives, in a thread of its own; ready means that there has been one."""

    def hold() -> None:
        held: Reservation | None = None
        while True:
            try:
                held = (ids.renew(held) if held else None) or ids.claim()
                reserve(held)
                readiness.has("worker number")
            except Exception as error:  # noqa: BLE001 - whatever it is, the next try may find it mended
                if held is None:
                    readiness.lacks("worker number", error)
                else:
                    _log.warning("worker number not renewed", extra={"worker": held.worker, "reason": str(error)})
            threading.Event().wait(PAUSE if held else 1)

    threading.Thread(target=hold, name="worker-ids", daemon=True).start()
