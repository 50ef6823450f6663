"""Counts and the positions they stand for, in DynamoDB: one transaction moves both or neither.

Rule: for each partition of the topic one item, its place, has a version that every write raises. DynamoDB isolates no
two reads from a transaction between them. So a write is conditional on every item of the ledger being as it was loaded:
the place's version, and each watermark that it moves. Only the counts are added to whatever they are. So watermarks are
loaded only for the shards at hand, and a batch costs the same however many shards there ever were.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.tables import LEDGERS, USERS
from count_aggregator.tally import Tally
from murmuration_runtime.dynamo import errors_named, items, retry_conflicts
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.throttling import throttled

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ACTIONS = 100  # in one TransactWriteItems
ROOM = ACTIONS - 1  # for users and shards; one is the place
ADD_COUNTS = "ADD followers_count :followers, following_count :following, counts_version :one, version :one"
PLACE = "place"  # its shard_id; no shard of a stream is called that
MOST_GAPS = 500  # of one place; an item has room for some thousands


class OvertakenError(Exception):
    """Somebody else wrote first, a second owner of the partition: load and tally anew."""


class ContendedError(OvertakenError):
    """Another transaction held an item, and nothing was written. What was loaded may still be true."""

    def __init__(self, about: str, users: frozenset[str]) -> None:
        """Take the users whose rows were held; none if it was the place or a watermark."""
        super().__init__(about)
        self.users = users


@dataclass(frozen=True)
class Place:
    """How far one partition has been counted, of which incarnation of the topic; a version of 0 was never written."""

    version: int = 0
    next_offset: int = 0
    topic_id: str | None = None
    gaps: int = 0


class Ledger:
    """The table ledgers, and the counts in the table users."""

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        table_prefix: str,
        kept_seconds: int,
        ancestors: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        """Take how long a shard's watermark is kept after its last write, and where a partition's keys lay before."""
        self._dynamodb = dynamodb
        self._ledgers = f"{table_prefix}{LEDGERS.name}"
        self._users = f"{table_prefix}{USERS.name}"
        self._kept_seconds = kept_seconds
        self._ancestors = ancestors

    def check(self) -> None:
        """Raise StoreAwayError unless both tables answer."""
        with errors_named():
            key: Any = {USERS.user_id: {"S": "-"}}
            self._dynamodb.get_item(TableName=self._users, Key=key, ProjectionExpression=USERS.user_id)
        self.load("-")

    def load(self, partition_id: str) -> Place:
        """Return the place of a partition, strongly consistent."""
        item = self._place(partition_id)
        if not item:
            return Place()
        return Place(
            version=int(item[LEDGERS.version]["N"]),
            next_offset=int(item[LEDGERS.next_offset]["N"]),
            topic_id=item[LEDGERS.topic_id]["S"],
            gaps=len(item.get(LEDGERS.gaps, {"L": []})["L"]),
        )

    def watermarks(self, partition_id: str, shards: Collection[str]) -> dict[str, int]:
        """Return the last sequence counted of each of these shards, strongly consistent; -1 of one that is new.

        What was counted of a key before its topic grew, was counted under the partition where it lay then.
        """
        found = dict.fromkeys(shards, -1)
        keys = [_key(each, shard) for each in (partition_id, *self._ancestors(partition_id)) for shard in found]
        for item in items(self._dynamodb, self._ledgers, keys):
            shard = item[LEDGERS.shard_id]["S"]
            found[shard] = max(found[shard], int(item[LEDGERS.sequence_number]["S"]))
        return found

    def write(
        self, partition_id: str, result: Tally, was: Place, becomes: Place, gaps: Sequence[str], now: float
    ) -> None:
        """Add the tally, move its watermarks and the place, if that is still what was loaded; note gaps with it.

        After a StoreAwayError nobody knows whether it is written: load everything again and tally anew.
        """
        expires_at = int(now) + self._kept_seconds
        users = sorted(result.users)
        actions = [
            self._moved(partition_id, was, becomes, gaps),
            *(
                self._seen(partition_id, shard, result.loaded[shard], sequence, expires_at)
                for shard, sequence in result.watermarks.items()
            ),
            *(self._counts(user, result.followers[user], result.following[user]) for user in users),
        ]
        try:
            with errors_named():
                self._dynamodb.transact_write_items(TransactItems=actions)
        except self._dynamodb.exceptions.TransactionCanceledException as error:
            raise _cancelled(partition_id, error, users) from error

    def open_gaps(self, partition_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return what vanished from each partition and was not recounted since."""
        gaps = {partition_id: self._place(partition_id).get(LEDGERS.gaps, {"L": []}) for partition_id in partition_ids}
        return {partition_id: [gap["S"] for gap in listed["L"]] for partition_id, listed in gaps.items() if listed["L"]}

    def close_gaps(self, partition_id: str, gaps: Sequence[str]) -> bool:
        """Forget the gaps, because everybody was recounted since; False if there are more of them by now."""

        def remove() -> None:
            self._dynamodb.update_item(
                TableName=self._ledgers,
                Key=_key(partition_id, PLACE),
                UpdateExpression="REMOVE gaps",
                ConditionExpression="gaps = :known",
                ExpressionAttributeValues={":known": _texts(gaps)},
            )

        try:
            retry_conflicts(remove)
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _place(self, partition_id: str) -> Any:
        with errors_named():
            return self._dynamodb.get_item(
                TableName=self._ledgers, Key=_key(partition_id, PLACE), ConsistentRead=True
            ).get("Item", {})

    def _moved(self, partition_id: str, was: Place, becomes: Place, gaps: Sequence[str]) -> Any:
        update = "SET version = :version, next_offset = :next, topic_id = :topic"
        values: dict[str, Any] = {
            ":version": {"N": str(was.version + 1)},
            ":next": {"N": str(becomes.next_offset)},
            ":topic": {"S": str(becomes.topic_id)},
        }
        if gaps and was.gaps + len(gaps) > MOST_GAPS:
            update += ", gaps = :gaps"
            values |= {":gaps": _texts([f"more than {MOST_GAPS} gaps, and the last are: {', '.join(gaps[-3:])}"])}
        elif gaps:
            update += ", gaps = list_append(if_not_exists(gaps, :none), :gaps)"
            values |= {":none": {"L": []}, ":gaps": _texts(gaps)}
        if was.version:
            values[":loaded"] = {"N": str(was.version)}
        return {
            "Update": {
                "TableName": self._ledgers,
                "Key": _key(partition_id, PLACE),
                "UpdateExpression": update,
                "ConditionExpression": "version = :loaded" if was.version else "attribute_not_exists(version)",
                "ExpressionAttributeValues": values,
            }
        }

    def _seen(self, partition_id: str, shard_id: str, loaded: int, sequence_number: int, expires_at: int) -> Any:
        item = {
            **_key(partition_id, shard_id),
            LEDGERS.sequence_number: {"S": str(sequence_number)},
            LEDGERS.expires_at: {"N": str(expires_at)},
        }
        condition: Any = {"ConditionExpression": "attribute_not_exists(sequence_number)"}
        if loaded >= 0:  # it may be the watermark of an ancestor
            condition = {
                "ConditionExpression": "attribute_not_exists(sequence_number) OR sequence_number = :loaded",
                "ExpressionAttributeValues": {":loaded": {"S": str(loaded)}},
            }
        return {"Put": {"TableName": self._ledgers, "Item": item, **condition}}

    def _counts(self, user_id: str, followers: int, following: int) -> Any:
        return {
            "Update": {
                "TableName": self._users,
                "Key": {USERS.user_id: {"S": user_id}},
                "UpdateExpression": ADD_COUNTS,
                "ExpressionAttributeValues": {
                    ":followers": {"N": str(followers)},
                    ":following": {"N": str(following)},
                    ":one": {"N": "1"},
                },
            }
        }


def _cancelled(partition_id: str, error: Any, users: Sequence[str]) -> Exception:
    """Return what a cancelled transaction means, from DynamoDB's reason for each of its items; the users' come last."""
    codes = [reason.get("Code") for reason in error.response.get("CancellationReasons", ())]
    told = f"tally of {partition_id} not written: {error}"
    if "ConditionalCheckFailed" in codes:
        return OvertakenError(told)
    if throttled(codes):
        return StoreAwayError(told)
    of_users = codes[-len(users) :] if users else []
    held = {user for user, code in zip(users, of_users, strict=False) if code == "TransactionConflict"}
    return ContendedError(told, frozenset(held))


def _key(partition_id: str, shard_id: str) -> Any:
    return {LEDGERS.partition_id: {"S": partition_id}, LEDGERS.shard_id: {"S": shard_id}}


def _texts(texts: Sequence[str]) -> Any:
    return {"L": [{"S": text} for text in texts]}
