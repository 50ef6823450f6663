"""What is left of deleted accounts, in DynamoDB: each call is one request.

Rule: where the account is a table's partition key, the table itself is read, strongly consistent; else an index.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.tables import BLOCKS, DISMISSALS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS, Table
from follow_service.departures import Departed
from follow_service.dynamo_facts import user_key
from follow_service.dynamo_marks import take_off
from murmuration_runtime.dynamo import errors_named, retry_conflicts

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 100
MOST_DUE = 5_000  # accounts of one turn, of which the pace lets some thousand pages be read in a minute


class Part(NamedTuple):
    """Rows in which an account stands as this attribute, by the table or by an index of it; and the table's key."""

    table: type[Table]
    by: str
    attribute: str
    key: tuple[str, ...]


PAIR = (FOLLOWERS.followee_id, FOLLOWERS.follower_id)  # of a request, too
PARTS = (
    Part(FOLLOW_REQUESTS, "", FOLLOW_REQUESTS.followee_id, PAIR),
    Part(FOLLOW_REQUESTS, FOLLOW_REQUESTS.by_follower, FOLLOW_REQUESTS.follower_id, PAIR),
    Part(BLOCKS, BLOCKS.by_blocker, BLOCKS.blocker_id, (BLOCKS.pair,)),
    Part(BLOCKS, BLOCKS.by_blocked, BLOCKS.blocked_id, (BLOCKS.pair,)),
    Part(MUTES, "", MUTES.muter_id, (MUTES.muter_id, MUTES.muted_id)),
    Part(MUTES, MUTES.by_muted, MUTES.muted_id, (MUTES.muter_id, MUTES.muted_id)),
    Part(DISMISSALS, "", DISMISSALS.user_id, (DISMISSALS.user_id, DISMISSALS.dismissed_id)),
    Part(FOLLOWERS, FOLLOWERS.by_follower, FOLLOWERS.follower_id, PAIR),
    Part(FOLLOWERS, "", FOLLOWERS.followee_id, PAIR),
)


class DynamoRemains:
    """The Remains in the tables of the graph."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, most_due: int = MOST_DUE) -> None:
        self._dynamodb = dynamodb
        self._prefix = table_prefix
        self._most_due = most_due

    def check(self) -> None:
        """Raise StoreAwayError unless the index of those who are due answers."""
        self._first_due(1)

    def due(self) -> list[Departed]:
        return self._first_due(self._most_due)

    def remains(self, user_id: str, place: Any) -> tuple[list[Any], Any]:
        """Go part by part; a place is which part, and the key in it after which to go on."""
        number, after = place or (0, None)
        part = PARTS[number]
        how: Any = {"IndexName": part.by} if part.by else {"ConsistentRead": True}
        begin: Any = {"ExclusiveStartKey": after} if after else {}
        with errors_named():
            answer = self._dynamodb.query(
                TableName=f"{self._prefix}{part.table.name}",
                KeyConditionExpression=f"{part.attribute} = :me",
                ExpressionAttributeValues={":me": {"S": user_id}},
                Limit=PAGE,
                **how,
                **begin,
            )
        rows = [(part.table.name, {name: item[name] for name in part.key}) for item in answer["Items"]]
        if last := answer.get("LastEvaluatedKey"):
            return rows, (number, last)
        return rows, (number + 1, None) if number + 1 < len(PARTS) else None

    def delete(self, row: Any) -> None:
        table, key = row
        retry_conflicts(lambda: self._dynamodb.delete_item(TableName=f"{self._prefix}{table}", Key=key))

    def _first_due(self, most: int) -> list[Departed]:
        with errors_named():
            answer = self._dynamodb.query(
                TableName=f"{self._prefix}{USERS.name}",
                IndexName=USERS.by_departure,
                KeyConditionExpression="departure = :due",
                ExpressionAttributeValues={":due": {"S": USERS.DUE}},
                Limit=most,
            )
        return [Departed(item[USERS.user_id]["S"], int(item[USERS.deleted_at]["N"])) for item in answer["Items"]]

    def departed(self, due: Departed) -> None:
        take_off(
            self._dynamodb,
            f"{self._prefix}{USERS.name}",
            user_key(due.user_id),
            "REMOVE departure",
            "deleted_at = :at AND attribute_exists(departure)",
            due.deleted_at,
        )
