"""The leases in DynamoDB: one item for each row, conditional writes, strongly consistent reads."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.lease_items import item_of, key_of, row_of
from cdc_bridge.leases import Lease, LeaseLostError, Leases, Progress
from cdc_bridge.lineage import RETENTION_MS, Row, State
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

    def __init__(self, dynamodb: DynamoDBClient, table_prefix: str, lease_ms: int) -> None:
        self._dynamodb = dynamodb
        self._table = table_prefix + LEASES.name
        self._lease_ms = lease_ms

    def rows(self, stream_arn: str) -> dict[str, Row]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :stream_arn",
            ExpressionAttributeValues={":stream_arn": {"S": stream_arn}},
        )
        with _errors(self._table):
            return {item[LEASES.shard_id]["S"]: row_of(item) for page in pages for item in page["Items"]}

    def take(self, stream_arn: str, shard_id: str, owner: str, now: int, since: int) -> Lease | None:
        try:
            item = self._update(
                stream_arn,
                shard_id,
                "SET #owner = :owner, #expires_at = :until, #state = if_not_exists(#state, :opened),"
                " #since = if_not_exists(#since, :since), #tip_at = if_not_exists(#tip_at, :since) ADD #epoch :one",
                "(attribute_not_exists(#owner) OR #expires_at <= :now)"
                " AND (attribute_not_exists(#state) OR NOT #state IN (:ended, :gap))",
                {
                    ":owner": {"S": owner},
                    ":now": {"N": str(now)},
                    ":until": {"N": str(now + self._lease_ms)},
                    ":since": {"N": str(since)},
                    ":opened": {"S": State.OPENED},
                    ":ended": {"S": State.ENDED},
                    ":gap": {"S": State.GAP},
                    ":one": {"N": "1"},
                },
            )
        except LeaseLostError:
            return None
        row = row_of(item)
        return Lease(
            stream_arn, shard_id, owner, row.epoch, row.expires_at, row.state, row.position, row.since, row.tip_at
        )

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
        self._update_mine(lease, update, values, condition)

    def renew(self, lease: Lease, now: int, tip_at: int) -> int:
        until = now + self._lease_ms
        values = {":until": {"N": str(until)}, ":tip_at": {"N": str(tip_at)}}
        self._update_mine(lease, "SET #expires_at = :until, #tip_at = :tip_at", values)
        return until

    def checkpoint(self, lease: Lease, position: str) -> None:
        self._update_mine(
            lease,
            "SET #position = :position, #state = :reading",
            {
                ":position": {"S": position},
                ":length": {"N": str(len(position))},
                ":reading": {"S": State.READING},
            },
            f" AND {_FORWARD}",
        )

    def opened(self, lease: Lease, tip_at: int) -> None:
        values = {":opened": {"S": State.OPENED}, ":tip_at": {"N": str(tip_at)}}
        self._update_mine(lease, "SET #state = :opened, #tip_at = :tip_at", values)

    def finish(self, lease: Lease, tip_at: int) -> None:
        values = {":ended": {"S": State.ENDED}, ":tip_at": {"N": str(tip_at)}}
        self._update_mine(lease, "SET #state = :ended, #tip_at = :tip_at REMOVE #owner, #expires_at", values)

    def release(self, lease: Lease) -> None:
        self._update_mine(lease, "REMOVE #owner, #expires_at", {})

    def fail(self, lease: Lease, gap: str) -> None:
        values = {":state": {"S": State.GAP}, ":gap": {"S": gap}}
        self._update_mine(lease, "SET #state = :state, #gap = :gap REMOVE #owner, #expires_at", values)

    def go_on(self, lease: Lease, gap: str, now: int) -> None:
        values = {":state": {"S": State.LEFT}, ":gap": {"S": gap}, ":since": {"N": str(now)}}
        update = "SET #state = :state, #gap = :gap, #since = :since REMOVE #position"
        self._update_mine(lease, update, values)

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
        return self._put(stream_arn, replace(becomes, owner=None, expires_at=0, epoch=was.epoch + 1), same, values)

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

    def live(self, owner: str, now: int) -> dict[str, int]:
        here = Row(owner, State.READING, epoch=1, expires_at=now + self._lease_ms)
        with _errors(self._table):
            self._dynamodb.put_item(TableName=self._table, Item=item_of(_BRIDGES_KEY, here))
        rows = self.rows(_BRIDGES_KEY)
        for row in rows.values():
            if row.expires_at < now - RETENTION_MS:
                self.prune(_BRIDGES_KEY, row)
        return {name: row.expires_at for name, row in rows.items() if row.expires_at > now}

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
                )
        except LeaseLostError:
            return False
        return True

    def _update_mine(self, lease: Lease, update: str, values: dict[str, Any], condition: str = "") -> None:
        mine = {":owner": {"S": lease.owner}, ":epoch": {"N": str(lease.epoch)}}
        self._update(lease.stream_arn, lease.shard_id, update, _MINE + condition, values | mine)

    def _update(
        self, stream_arn: str, shard_id: str, update: str, condition: str, values: dict[str, Any]
    ) -> dict[str, Any]:
        with _errors(self._table):
            return self._dynamodb.update_item(
                TableName=self._table,
                Key=key_of(stream_arn, shard_id),
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames={name: _NAMES[name] for name in _NAMES if name in update + condition},
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
            )["Attributes"]


@contextmanager
def _errors(table: str) -> Iterator[None]:
    """Name AWS's errors by what the caller should do."""
    with errors_about(f"table {table}"):
        try:
            yield
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                raise LeaseLostError(f"{table}: the lease is another's, or the position went backwards") from error
            raise
