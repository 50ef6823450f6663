"""Lists of people, from DynamoDB's indexes: a request for each reading, and of requests one more for each 100 rows."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, Table
from follow_service.dynamo_facts import Reader, block_key, edge_key, mute_key
from follow_service.dynamo_parts import DynamoParts, SideBySide, one_by_one
from follow_service.follows import Edge
from follow_service.lists import Listed, Row
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Index(NamedTuple):
    """Where a list is: the index, of whom it is, whom it shows, since when, and the table's key of these two."""

    table: type[Table]
    name: str
    mine: str
    theirs: str
    when: str
    key: Callable[[str, str], Any]


def _is_followed(me: str, them: str) -> Any:
    return edge_key(them, me)


FOLLOWEE, FOLLOWER = FOLLOWERS.followee_id, FOLLOWERS.follower_id  # the key of a request has the same names
INDEXES = {
    Listed.FOLLOWERS: Index(
        FOLLOWERS, FOLLOWERS.by_recency, FOLLOWEE, FOLLOWER, FOLLOWERS.followed_at, _is_followed
    ),
    Listed.FOLLOWING: Index(
        FOLLOWERS, FOLLOWERS.by_follower, FOLLOWER, FOLLOWEE, FOLLOWERS.followed_at, edge_key
    ),
    Listed.REQUESTS: Index(
        FOLLOW_REQUESTS, FOLLOW_REQUESTS.by_recency, FOLLOWEE, FOLLOWER, FOLLOW_REQUESTS.requested_at, _is_followed
    ),
    Listed.SENT: Index(
        FOLLOW_REQUESTS, FOLLOW_REQUESTS.by_follower, FOLLOWER, FOLLOWEE, FOLLOW_REQUESTS.requested_at, edge_key
    ),
    Listed.BLOCKS: Index(
        BLOCKS, BLOCKS.by_blocker, BLOCKS.blocker_id, BLOCKS.blocked_id, BLOCKS.blocked_at, block_key
    ),
    Listed.MUTES: Index(
        MUTES, MUTES.by_recency, MUTES.muter_id, MUTES.muted_id, MUTES.muted_at, mute_key
    ),
}  # fmt: skip


class DynamoLists:
    """The Lists of the graph, which lag behind their tables, and what the table itself has of follows."""

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        table_prefix: str,
        in_parts: Callable[[], bool] = lambda: True,
        side_by_side: SideBySide = one_by_one,
    ) -> None:
        """in_parts: whether followers are read from their parts, or still from the index of before the migration."""
        self._dynamodb = dynamodb
        self._prefix = table_prefix
        self._reader = Reader(dynamodb, table_prefix)
        self._parts = DynamoParts(dynamodb, table_prefix, side_by_side)
        self._in_parts = in_parts

    def rows(self, listed: Listed, user_id: str, most: int, after: Row | None) -> tuple[list[Row], Row | None]:
        if listed is Listed.FOLLOWERS and self._in_parts():
            return self._parts.rows(user_id, most, after)
        index = INDEXES[listed]
        begin: Any = {"ExclusiveStartKey": _start(index, user_id, after)} if after else {}
        live: Any = {"FilterExpression": "attribute_not_exists(accepted_at)"} if index.table is FOLLOW_REQUESTS else {}
        with errors_named():
            answer = self._dynamodb.query(
                TableName=f"{self._prefix}{index.table.name}",
                IndexName=index.name,
                KeyConditionExpression=f"{index.mine} = :me",
                ExpressionAttributeValues={":me": {"S": user_id}},
                ScanIndexForward=False,
                Limit=most,
                **live,
                **begin,
            )
        rows, last = [_row(index, item) for item in answer["Items"]], answer.get("LastEvaluatedKey")
        if index.table is FOLLOW_REQUESTS:
            rows = self._without_follows(listed, user_id, rows)
        return rows, _row(index, last) if last else None

    def among(self, edges: Collection[Edge]) -> set[Edge]:
        found = self._reader.read(follows=[(edge.follower_id, edge.followee_id) for edge in edges])
        return {Edge(*pair) for pair in found.follows}

    def _without_follows(self, listed: Listed, user_id: str, rows: list[Row]) -> list[Row]:
        """Leave out the requests that stand beside a follow."""
        is_sent = listed is Listed.SENT
        edges = [Edge(user_id, row.user_id) if is_sent else Edge(row.user_id, user_id) for row in rows]
        followed = self.among(edges)
        return [row for row, edge in zip(rows, edges, strict=True) if edge not in followed]


def _row(index: Index, item: Any) -> Row:
    """Read a row of an index, or the key of one; that of a block names whom it is about in its pair alone."""
    them = item[index.theirs]["S"] if index.theirs in item else BLOCKS.blocked_in(item[BLOCKS.pair]["S"])
    return Row(them, int(item[index.when]["N"]))


def _start(index: Index, user_id: str, after: Row) -> Any:
    return {
        index.mine: {"S": user_id},
        index.when: {"N": str(after.at)},
        **index.key(user_id, after.user_id),
    }
