"""The leases in DynamoDB: one item for each row, conditional writes, strongly consistent reads."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.lease_items import item_of, key_of, row_of
from cdc_bridge.leases import Lease, LeaseLostError, Leases, Progress
from cdc_bridge.lineage import Row, State
from contracts.tables import LEASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient


# An item's attributes, by the names that expressions use: most of the plain words are reserved.
_NAMES = {
    f"#{name}": name
    for name in (
        LEASES.owner,
        LEASES.epoch,
        LEASES.expires_at,
        LEASES.renewals,
        LEASES.state,
        LEASES.position,
        LEASES.tip_at,
        LEASES.since,
        LEASES.gap,
    )
}
_BRIDGES_KEY = "bridges"

_MINE = "#owner = :owner AND #epoch = :epoch"
# Decimal strings of differing length, and too long for a DynamoDB number: the longer is the larger.
_FORWARD = (
    "(attribute_not_exists(#position) OR size(#position) < :length"
    " OR (size(#position) = :length AND #position <= :position))"
)


class LeaseTable(Leases):
    """The leases in DynamoDB."""

    def __init__(self, dynamodb: DynamoDBClient, table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = table_prefix + LEASES.name

    def rows(self, stream_arn: str) -> dict[str, Row]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :stream_arn",
            ExpressionAttributeValues={":stream_arn": {"S": stream_arn}},
        )
        with _errors(self._table):
            return {item[LEASES.shard_id]["S"]: row_of(item) for page in pages for item in page["Items"]}

    def take(self, stream_arn: str, seen: Row, owner: str, until: int) -> Lease | None:
        values = {
            ":owner": {"S": owner},
            ":until": {"N": str(until)},
            ":since": {"N": str(seen.since)},
            ":opened": {"S": State.OPENED},
            ":ended": {"S": State.ENDED},
            ":gap": {"S": State.GAP},
            ":epoch": {"N": str(seen.epoch)},
            ":one": {"N": "1"},
        }
        same = "#epoch = :epoch" if seen.epoch else "(attribute_not_exists(#epoch) OR #epoch = :epoch)"
        if seen.owner is None:
            same += " AND attribute_not_exists(#owner)"
        else:
            same += " AND #owner = :seen AND #expires_at = :expires_at"
            same += " AND (attribute_not_exists(#renewals) OR #renewals = :renewals)"
            values |= {
                ":seen": {"S": seen.owner},
                ":expires_at": {"N": str(seen.expires_at)},
                ":renewals": {"N": str(seen.renewals)},
            }
        try:
            row = self._update(
                stream_arn,
                seen.shard_id,
                "SET #owner = :owner, #expires_at = :until, #state = if_not_exists(#state, :opened),"
                " #since = if_not_exists(#since, :since), #tip_at = if_not_exists(#tip_at, :since) ADD #epoch :one",
                f"{same} AND (attribute_not_exists(#state) OR NOT #state IN (:ended, :gap))",
                values,
            )
        except LeaseLostError as error:
            if error.found is None or (error.found.owner, error.found.epoch) != (owner, seen.epoch + 1):
                return None
            row = error.found
        return Lease(stream_arn, seen.shard_id, owner, row.epoch, row.state, row.position, row.since, row.tip_at)

    def save(self, lease: Lease, progress: Progress, until: int | None) -> None:
        sets = ["#state = :state", "#since = :since", "#tip_at = :tip_at"]
        values: dict[str, Any] = {
            ":state": {"S": progress.state},
            ":since": {"N": str(progress.since)},
            ":tip_at": {"N": str(progress.tip_at)},
            ":one": {"N": "1"},
        }
        removes, condition = [], ""
        if progress.position is None:
            removes.append("#position")
        else:
            sets.append("#position = :position")
            values |= {":position": {"S": progress.position}, ":length": {"N": str(len(progress.position))}}
            condition = f" AND {_FORWARD}"
        if progress.gap is not None:
            sets.append("#gap = :gap")
            values[":gap"] = {"S": progress.gap}
        if until is None:
            removes += ["#owner", "#expires_at"]
        else:
            sets.append("#expires_at = :until")
            values[":until"] = {"N": str(until)}
        update = f"SET {', '.join(sets)} ADD #renewals :one" + (f" REMOVE {', '.join(removes)}" if removes else "")
        mine = {":owner": {"S": lease.owner}, ":epoch": {"N": str(lease.epoch)}}
        try:
            self._update(lease.stream_arn, lease.shard_id, update, f"{_MINE}{condition}", values | mine)
        except LeaseLostError as error:
            found = error.found
            was_given_back = found is not None and (found.owner, found.epoch) == (None, lease.epoch)
            if not (until is None and was_given_back):  # whoever else takes an owner away raises the epoch
                raise

    def note(self, stream_arn: str, row: Row) -> bool:
        return self._put(stream_arn, row, "NOT #epoch >= :zero", {":zero": {"N": "0"}})

    def overrule(self, stream_arn: str, was: Row, becomes: Row) -> bool:
        same = "#epoch = :epoch AND #state = :state"
        values = {":epoch": {"N": str(was.epoch)}, ":state": {"S": was.state}}
        if was.position is None:
            same += " AND attribute_not_exists(#position)"
        else:
            same += " AND #position = :position"
            values[":position"] = {"S": was.position}
        becomes = replace(becomes, owner=None, expires_at=0, renewals=0, epoch=was.epoch + 1)
        return self._put(stream_arn, becomes, same, values)

    def advance(self, stream_arn: str, shard_id: str, tip_at: int) -> None:
        with suppress(LeaseLostError):
            values = {":tip_at": {"N": str(tip_at)}}
            self._update(stream_arn, shard_id, "SET #tip_at = :tip_at", "#tip_at < :tip_at", values)

    def prune(self, stream_arn: str, row: Row) -> None:
        with suppress(LeaseLostError), _errors(self._table):
            self._dynamodb.delete_item(
                TableName=self._table,
                Key=key_of(stream_arn, row.shard_id),
                ConditionExpression="attribute_not_exists(#epoch) OR #epoch = :epoch",
                ExpressionAttributeNames={"#epoch": LEASES.epoch},
                ExpressionAttributeValues={":epoch": {"N": str(row.epoch)}},
            )

    def live(self, owner: str, until: int) -> dict[str, Row]:
        self._update(
            _BRIDGES_KEY,
            owner,
            "SET #state = :reading, #epoch = :one, #expires_at = :until ADD #renewals :one",
            None,
            {":reading": {"S": State.READING}, ":until": {"N": str(until)}, ":one": {"N": "1"}},
        )
        return self.rows(_BRIDGES_KEY)

    def leave(self, owner: str) -> None:
        self.prune(_BRIDGES_KEY, Row(owner, State.READING, epoch=1))

    def _put(self, stream_arn: str, row: Row, condition: str, values: dict[str, Any]) -> bool:
        try:
            with _errors(self._table):
                self._dynamodb.put_item(
                    TableName=self._table,
                    Item=item_of(stream_arn, row),
                    ConditionExpression=condition,
                    ExpressionAttributeNames={name: _NAMES[name] for name in _NAMES if name in condition},
                    ExpressionAttributeValues=values,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except LeaseLostError as error:
            return error.found == row
        return True

    def _update(
        self, stream_arn: str, shard_id: str, update: str, condition: str | None, values: dict[str, Any]
    ) -> Row:
        words = f"{update} {condition}"
        with _errors(self._table):
            answer = self._dynamodb.update_item(
                TableName=self._table,
                Key=key_of(stream_arn, shard_id),
                UpdateExpression=update,
                **({"ConditionExpression": condition} if condition else {}),  # type: ignore[arg-type]
                ExpressionAttributeNames={name: _NAMES[name] for name in _NAMES if name in words},
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        return row_of(answer["Attributes"])


@contextmanager
def _errors(table: str) -> Iterator[None]:
    """Name AWS's errors by what the caller should do."""
    with errors_about(f"table {table}"):
        try:
            yield
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                item: Any = error.response.get("Item")
                text = f"{table}: the lease is another's, or the position went backwards"
                raise LeaseLostError(text, row_of(item) if item else None) from error
            raise
