"""Who reads a shard, and how far it is published: one item for each (stream, shard) of the leases table.

Rule: every write is conditional on owner and epoch. Taking a lease raises the epoch, so whoever lost it can write
nothing more, however late it wakes up. Clocks decide only how soon a dead owner's shard is taken, never who may write.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from cdc_bridge.lineage import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient


class LeaseLostError(Exception):
    """Somebody else reads the shard now: stop producing for it."""


class LeasesAwayError(Exception):
    """The leases table does not answer: wait and ask again."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the table knows about a shard."""

    shard_id: str
    state: State
    position: str | None  # the last published sequence number, as the stream wrote it
    owner: str | None
    epoch: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to read one shard, from the position that its owner found."""

    stream_arn: str
    shard_id: str
    owner: str
    epoch: int
    expires_at: int
    position: str | None


# An item's attributes, by the names that expressions use: most of the plain words are reserved.
_NAMES = {
    "#owner": "owner",
    "#epoch": "epoch",
    "#expires_at": "expires_at",
    "#state": "state",
    "#position": "position",
}
_MINE = "#owner = :owner AND #epoch = :epoch"
# Decimal strings of differing length, and too long for a DynamoDB number: the longer is the larger.
_FORWARD = (
    "(attribute_not_exists(#position) OR size(#position) < :length"
    " OR (size(#position) = :length AND #position <= :position))"
)


class LeaseTable:
    """The leases in DynamoDB."""

    def __init__(self, dynamodb: DynamoDBClient, table_prefix: str, lease_ms: int) -> None:
        self._dynamodb = dynamodb
        self._table = table_prefix + "leases"
        self._lease_ms = lease_ms

    def rows(self, stream_arn: str) -> dict[str, Row]:
        """Return every shard of the stream that was ever taken."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :stream_arn",
            ExpressionAttributeValues={":stream_arn": {"S": stream_arn}},
        )
        with _errors(self._table):
            return {item["shard_id"]["S"]: _row(item) for page in pages for item in page["Items"]}

    def take(self, stream_arn: str, shard_id: str, owner: str, now: int) -> Lease | None:
        """Take a shard that is free or whose lease expired; None if it is another's or finished."""
        try:
            item = self._update(
                stream_arn,
                shard_id,
                "SET #owner = :owner, #expires_at = :until, #state = if_not_exists(#state, :opened) ADD #epoch :one",
                "(attribute_not_exists(#owner) OR #expires_at <= :now)"
                " AND (attribute_not_exists(#state) OR #state <> :ended)",
                {
                    ":owner": {"S": owner},
                    ":now": {"N": str(now)},
                    ":until": {"N": str(now + self._lease_ms)},
                    ":opened": {"S": State.OPENED},
                    ":ended": {"S": State.ENDED},
                    ":one": {"N": "1"},
                },
            )
        except LeaseLostError:
            return None
        row = _row(item)
        return Lease(stream_arn, shard_id, owner, row.epoch, row.expires_at, row.position)

    def renew(self, lease: Lease, now: int) -> int:
        """Keep the lease; return until when."""
        until = now + self._lease_ms
        self._update_mine(lease, "SET #expires_at = :until", {":until": {"N": str(until)}})
        return until

    def checkpoint(self, lease: Lease, position: str) -> None:
        """Remember that everything up to the position is published; never moves backwards."""
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

    def finish(self, lease: Lease) -> None:
        """Remember that the shard is published to its end, and give the lease back."""
        self._update_mine(lease, "SET #state = :ended REMOVE #owner, #expires_at", {":ended": {"S": State.ENDED}})

    def release(self, lease: Lease) -> None:
        """Give the lease back, for anybody to take at once."""
        self._update_mine(lease, "REMOVE #owner, #expires_at", {})

    def _update_mine(self, lease: Lease, update: str, values: dict[str, Any], condition: str = "") -> None:
        mine = {":owner": {"S": lease.owner}, ":epoch": {"N": str(lease.epoch)}}
        self._update(lease.stream_arn, lease.shard_id, update, _MINE + condition, values | mine)

    def _update(
        self, stream_arn: str, shard_id: str, update: str, condition: str, values: dict[str, Any]
    ) -> dict[str, Any]:
        with _errors(self._table):
            return self._dynamodb.update_item(
                TableName=self._table,
                Key={"stream_arn": {"S": stream_arn}, "shard_id": {"S": shard_id}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeNames={name: _NAMES[name] for name in _NAMES if name in update + condition},
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
            )["Attributes"]


def _row(item: dict[str, Any]) -> Row:
    return Row(
        shard_id=item["shard_id"]["S"],
        state=State(item["state"]["S"]),
        position=item["position"]["S"] if "position" in item else None,
        owner=item["owner"]["S"] if "owner" in item else None,
        epoch=int(item["epoch"]["N"]),
        expires_at=int(item["expires_at"]["N"]) if "expires_at" in item else 0,
    )


@contextmanager
def _errors(table: str) -> Iterator[None]:
    """Name AWS's errors by what the caller should do."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
            raise LeaseLostError(f"{table}: the lease is another's, or the position went backwards") from error
        raise LeasesAwayError(f"table {table}: {error}") from error
    except BotoCoreError as error:
        raise LeasesAwayError(f"table {table}: {error}") from error
