"""What is read of the tables in order to be kept: people's rows, and lists with who is in them; a request a call."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from contracts.profiles import read_profile
from contracts.tables import BLOCKS, FOLLOWERS, USERS
from follow_service.cache import MOST, Kind, Member, Newest, State
from follow_service.dynamo_facts import Pair, Reader, block_key, edge_key
from follow_service.dynamo_lists import DynamoLists
from follow_service.lists import Listed, Row
from murmuration_runtime.dynamo import errors_named, items_of_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LISTED = {Kind.FOLLOWERS: Listed.FOLLOWERS, Kind.FOLLOWING: Listed.FOLLOWING, Kind.BLOCKING: Listed.BLOCKS}


class DynamoAdjacency:
    """The Adjacency in the tables of the graph."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str, lists: DynamoLists) -> None:
        self._dynamodb = dynamodb
        self._prefix = table_prefix
        self._reader = Reader(dynamodb, table_prefix)
        self._lists = lists

    def people(self, user_ids: Collection[str], pairs: Iterable[Pair]) -> tuple[dict[str, State], set[Pair]]:
        found = self._reader.read(users=user_ids, blocks=pairs)
        return {user_id: _state(user_id, row) for user_id, row in found.users.items()}, found.blocks

    def newest(self, kind: Kind, owner_id: str) -> Newest:
        if kind is Kind.BLOCKED:
            return self._blocked(owner_id)
        rows, rest = self._lists.rows(LISTED[kind], owner_id, MOST, None)
        return Newest(rows, rest is None)

    def at(self, members: Iterable[Member]) -> dict[Member, int | None]:
        """Read each row once, whichever lists it is in."""
        asked = {each: self._key(each) for each in members}
        keys = {(table, tuple(part["S"] for part in key.values())): (table, key) for table, key in asked.values()}
        found = {
            (table, tuple(item[name]["S"] for name in KEYS[table.removeprefix(self._prefix)])): item
            for table, item in items_of_tables(self._dynamodb, keys.values(), {})
        }
        rows = {
            each: found.get((table, tuple(part["S"] for part in key.values()))) for each, (table, key) in asked.items()
        }
        return {each: _since(each.kind, row) if row else None for each, row in rows.items()}

    def check(self) -> None:
        self.at(Member(kind, "-", "-") for kind in Kind)

    def _blocked(self, owner_id: str) -> Newest:
        """Read who blocks somebody; the index does not say since when."""
        with errors_named():
            answer = self._dynamodb.query(
                TableName=f"{self._prefix}{BLOCKS.name}",
                IndexName=BLOCKS.by_blocked,
                KeyConditionExpression="blocked_id = :me",
                ExpressionAttributeValues={":me": {"S": owner_id}},
                Limit=MOST,
            )
        rows = [Row(item[BLOCKS.blocker_id]["S"], 0) for item in answer["Items"]]
        return Newest(rows, "LastEvaluatedKey" not in answer)

    def _key(self, member: Member) -> tuple[str, Any]:
        kind, owner_id, user_id = member
        owner_does = kind in (Kind.FOLLOWING, Kind.BLOCKING)
        pair = (owner_id, user_id) if owner_does else (user_id, owner_id)
        if kind in (Kind.FOLLOWERS, Kind.FOLLOWING):
            return f"{self._prefix}{FOLLOWERS.name}", edge_key(*pair)
        return f"{self._prefix}{BLOCKS.name}", block_key(*pair)


KEYS: Mapping[str, tuple[str, ...]] = {
    FOLLOWERS.name: (FOLLOWERS.followee_id, FOLLOWERS.follower_id),
    BLOCKS.name: (BLOCKS.pair,),
}


def _since(kind: Kind, row: Any) -> int:
    if kind is Kind.BLOCKED:
        return 0
    return int(row[BLOCKS.blocked_at if kind is Kind.BLOCKING else FOLLOWERS.followed_at]["N"])


def _state(user_id: str, row: Any) -> State:
    return State(user_id, int(row.get(USERS.version, {"N": "0"})["N"]), read_profile(row))
