"""The leases in DynamoDB: one item for each row, conditional writes, strongly consistent reads."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.dynamo_migrations import progress_of
from cdc_bridge.lease_items import item_of, key_of, row_of
from cdc_bridge.lease_parts import NEW, Layout, begins, moves
from cdc_bridge.leases import Lease, LeaseLostError, Leases, Progress
from cdc_bridge.lineage import Row, State
from contracts.migrations.spread_leases import is_old_place
from contracts.tables import LEASES, MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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
        LEASES.shown_until,
        LEASES.since,
        LEASES.gap,
        LEASES.tables,
    )
}
_BRIDGES_KEY = "bridges"

# A transaction is also cancelled when another one holds an item: then somebody else is at it, and the next round looks.
_REFUSED = {"ConditionalCheckFailedException", "TransactionCanceledException"}
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
        self._table_prefix = table_prefix
        self._layout: Layout | None = None  # until it is read

    def rows(self, of: str) -> dict[str, Row]:
        if not is_old_place(of):
            return {item[LEASES.shard_id]["S"]: row_of(item) for item in self._items(of)}
        layout = self._layout = self._read_layout()
        old, *parts = LEASES.parts_of(of)
        items = self._items(old)
        if layout.is_spread or len(LEASES.shards(items)) < len(items):
            items += [item for part in parts for item in self._items(part)]
        return {name: row_of({**item}) for name, item in LEASES.shards(items).items()}

    def must_move(self, part: str) -> bool:
        return self._known_layout().is_spread and is_old_place(part)

    def take(self, stream_arn: str, seen: Row, owner: str, until: int) -> Lease | None:
        taken = replace(seen, owner=owner, epoch=seen.epoch + 1, expires_at=until, renewals=0)
        if not seen.part:
            seen = replace(seen, part=self._known_layout().place_of(stream_arn, seen.shard_id))
            if self.must_move(stream_arn) and not self.note(stream_arn, replace(seen, tip_at=seen.since)):
                return None
        same, values = _as_seen(seen)
        if self.must_move(seen.part):
            if not self._transact(moves(self._table, seen, taken, _condition(same, values))):
                return None
            row = replace(taken, part=LEASES.part_of(stream_arn, seen.shard_id))
        else:
            found = self._take(seen, taken, same, values)
            if found is None:
                return None
            row = found
        return Lease(row.part, row.shard_id, owner, row.epoch, row.state, row.position, row.since, row.tip_at)

    def _take(self, seen: Row, taken: Row, same: str, values: dict[str, Any]) -> Row | None:
        try:
            return self._update(
                seen.part,
                seen.shard_id,
                "SET #owner = :owner, #expires_at = :until, #state = if_not_exists(#state, :opened),"
                " #since = if_not_exists(#since, :since), #tip_at = if_not_exists(#tip_at, :since) ADD #epoch :one",
                same,
                values
                | {
                    ":owner": {"S": str(taken.owner)},
                    ":until": {"N": str(taken.expires_at)},
                    ":since": {"N": str(seen.since)},
                    ":opened": {"S": State.OPENED},
                    ":one": {"N": "1"},
                },
            )
        except LeaseLostError as error:
            is_ours = error.found is not None and (error.found.owner, error.found.epoch) == (taken.owner, taken.epoch)
            return error.found if is_ours else None

    def save(self, lease: Lease, progress: Progress, until: int | None) -> None:
        sets = ["#state = :state", "#since = :since", "#tip_at = :tip_at"]
        values: dict[str, Any] = {
            ":state": {"S": progress.state},
            ":since": {"N": str(progress.since)},
            ":tip_at": {"N": str(progress.tip_at)},
            ":one": {"N": "1"},
        }
        if progress.shown_until:
            sets.append("#shown_until = :shown")
            values[":shown"] = {"N": str(progress.shown_until)}
        removes, condition = [], ""
        if progress.position is None and progress.gap is None:  # nor may an old write that comes late take one away
            condition = " AND attribute_not_exists(#position)"
        elif progress.position is None:
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
            self._update(lease.part, lease.shard_id, update, f"{_MINE}{condition}", values | mine)
        except LeaseLostError as error:
            found = error.found
            was_given_back = found is not None and (found.owner, found.epoch) == (None, lease.epoch)
            if not (until is None and was_given_back):  # whoever else takes an owner away raises the epoch
                raise

    def note(self, of: str, row: Row) -> bool:
        if not is_old_place(of):
            return self._put(of, row, NEW)
        part = self._known_layout().place_of(of, row.shard_id)
        if self.must_move(of) and not self._known_layout().is_over:
            return self._transact(begins(self._table, of, row))
        return self._put(part, row, NEW)

    def overrule(self, of: str, was: Row, becomes: Row) -> bool:
        same = "#epoch = :epoch AND #state = :state"
        values = {":epoch": {"N": str(was.epoch)}, ":state": {"S": was.state}}
        for name, text in (("position", was.position), ("gap", was.gap)):
            if text is None:
                same += f" AND attribute_not_exists(#{name})"
            else:
                same += f" AND #{name} = :{name}"
                values[f":{name}"] = {"S": text}
        becomes = replace(becomes, owner=None, expires_at=0, renewals=0, epoch=was.epoch + 1)
        part = was.part or self._known_layout().place_of(of, was.shard_id)
        return self._put(part, becomes, _condition(same, values))

    def advance(self, of: str, stream_arn: str, tip_at: int) -> None:
        with suppress(LeaseLostError):
            values = {":tip_at": {"N": str(tip_at)}}
            self._update(of, stream_arn, "SET #tip_at = :tip_at", "#tip_at < :tip_at", values)

    def show(self, of: str, stream_arn: str, shown_until: int) -> None:
        with suppress(LeaseLostError):
            values = {":shown": {"N": str(shown_until)}}
            is_later = "(attribute_not_exists(#shown_until) OR #shown_until < :shown)"
            known = f"attribute_exists(#state) AND {is_later}"
            self._update(of, stream_arn, "SET #shown_until = :shown", known, values)

    def prune(self, of: str, row: Row) -> None:
        with suppress(LeaseLostError), _errors(self._table):
            self._dynamodb.delete_item(
                TableName=self._table,
                Key=key_of(row.part or of, row.shard_id),
                ConditionExpression="attribute_not_exists(#epoch) OR #epoch = :epoch",
                ExpressionAttributeNames={"#epoch": LEASES.epoch},
                ExpressionAttributeValues={":epoch": {"N": str(row.epoch)}},
            )

    def live(self, owner: str, tables: Collection[str], until: int) -> dict[str, Row]:
        self._update(
            _BRIDGES_KEY,
            owner,
            "SET #state = :reading, #epoch = :one, #expires_at = :until, #tables = :tables ADD #renewals :one",
            None,
            {
                ":reading": {"S": State.READING},
                ":until": {"N": str(until)},
                ":tables": {"SS": sorted(tables)},
                ":one": {"N": "1"},
            },
        )
        return self.rows(_BRIDGES_KEY)

    def leave(self, owner: str) -> None:
        self.prune(_BRIDGES_KEY, Row(owner, State.READING, epoch=1))

    def _put(self, part: str, row: Row, condition: dict[str, Any]) -> bool:
        try:
            with _errors(self._table):
                self._dynamodb.put_item(
                    TableName=self._table,
                    Item=item_of(part, row),
                    **condition,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except LeaseLostError as error:
            return error.found == row
        return True

    def _transact(self, writes: list[Any]) -> bool:
        """Do all or nothing; botocore's token lets it ask again after a lost answer."""
        try:
            with _errors(self._table):
                self._dynamodb.transact_write_items(TransactItems=writes)
        except LeaseLostError:
            return False
        return True

    def _items(self, part: str) -> list[dict[str, Any]]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="stream_arn = :stream_arn",
            ExpressionAttributeValues={":stream_arn": {"S": part}},
        )
        with _errors(self._table):
            return [item for page in pages for item in page["Items"]]

    def _known_layout(self) -> Layout:
        if self._layout is None:
            self._layout = self._read_layout()
        return self._layout

    def _read_layout(self) -> Layout:
        return Layout.of(progress_of(self._dynamodb, self._table_prefix, MIGRATIONS.SPREAD_LEASES))

    def _update(self, part: str, shard_id: str, update: str, condition: str | None, values: dict[str, Any]) -> Row:
        words = f"{update} {condition}"
        with _errors(self._table):
            answer = self._dynamodb.update_item(
                TableName=self._table,
                Key=key_of(part, shard_id),
                UpdateExpression=update,
                **({"ConditionExpression": condition} if condition else {}),  # type: ignore[arg-type]
                ExpressionAttributeNames=_names(words),
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        return row_of(answer["Attributes"])


def _names(words: str) -> dict[str, str]:
    return {name: _NAMES[name] for name in _NAMES if name in words}


def _condition(words: str, values: dict[str, Any]) -> dict[str, Any]:
    return {
        "ConditionExpression": words,
        "ExpressionAttributeNames": _names(words),
        "ExpressionAttributeValues": values,
    }


def _as_seen(row: Row) -> tuple[str, dict[str, Any]]:
    """Say on what condition a row is as it was seen, and may be taken."""
    same = "#epoch = :epoch" if row.epoch else "(attribute_not_exists(#epoch) OR #epoch = :epoch)"
    same += " AND (attribute_not_exists(#state) OR NOT #state IN (:ended, :gap))"
    values = {":epoch": {"N": str(row.epoch)}, ":ended": {"S": State.ENDED}, ":gap": {"S": State.GAP}}
    if row.owner is None:
        return f"{same} AND attribute_not_exists(#owner)", values
    same += " AND #owner = :seen AND #expires_at = :expires_at"
    same += " AND (attribute_not_exists(#renewals) OR #renewals = :renewals)"
    seen = {":seen": {"S": row.owner}, ":expires_at": {"N": str(row.expires_at)}}
    return same, values | seen | {":renewals": {"N": str(row.renewals)}}


@contextmanager
def _errors(table: str) -> Iterator[None]:
    """Name AWS's errors by what the caller should do."""
    with errors_about(f"table {table}"):
        try:
            yield
        except ClientError as error:
            if error.response["Error"]["Code"] in _REFUSED:
                item: Any = error.response.get("Item")
                text = f"{table}: the lease is another's, or the position went backwards"
                raise LeaseLostError(text, row_of(item) if item else None) from error
            raise
