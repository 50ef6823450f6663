"""Who follows whom and who asks to, in DynamoDB: each call is one request.

Rule: a row that two people have between them is written in one transaction with a look at the pair's two blocks. Each
pair of people has block items of its own, so a celebrity's follows meet in no item.
"""

from collections.abc import Callable
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS
from follow_service.dynamo_facts import Reader, block_key, edge_key
from follow_service.dynamo_profiles import account
from follow_service.follows import Edge, Standing
from murmuration_runtime import traces
from murmuration_runtime.dynamo import retry_conflicts, transact

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_S = 86_400  # for which the row of an accepted request that nobody deleted may stay


class DynamoFollows:
    """The Store of follows on the tables followers and follow_requests."""

    def __init__(
        self, dynamodb: "DynamoDBClient", table_prefix: str, wrote: Callable[[str], object] = lambda _: None
    ) -> None:
        """wrote: is told of each followee who is written to."""
        self._dynamodb = dynamodb
        self._wrote = wrote
        self._reader = Reader(dynamodb, table_prefix)
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._requests = f"{table_prefix}{FOLLOW_REQUESTS.name}"
        self._blocks = f"{table_prefix}{BLOCKS.name}"

    def standing(self, edge: Edge) -> Standing:
        there, back = (edge.follower_id, edge.followee_id), (edge.followee_id, edge.follower_id)
        found = self._reader.read(users=there, follows=[there], requests=[there], blocks=[there, back])
        follower, followee = (account(found.users.get(user_id, {})) for user_id in there)
        return Standing(
            follower,
            followee,
            followed=there in found.follows,
            requested=there in found.requests,
            left_over=there in found.left_over,
            blocking=there in found.blocks,
            blocked=back in found.blocks,
        )

    def add(self, edge: Edge, now: int) -> bool:
        return self._put(self._followers, edge, FOLLOWERS.followed_at, now, _part(edge))

    def remove(self, edge: Edge) -> None:
        self._delete(self._followers, edge)

    def remove_with_request(self, edge: Edge) -> None:
        self._wrote(edge.followee_id)
        key = edge_key(edge.follower_id, edge.followee_id)
        there = "attribute_exists(followee_id)"
        removed: Any = {"TableName": self._followers, "Key": key, "ConditionExpression": there}
        transact(self._dynamodb, [{"Delete": removed}, {"Delete": {"TableName": self._requests, "Key": key}}])

    def request(self, edge: Edge, now: int) -> bool:
        return self._put(self._requests, edge, FOLLOW_REQUESTS.requested_at, now)

    def withdraw(self, edge: Edge) -> None:
        self._delete(self._requests, edge)

    def accept(self, edge: Edge, now: int) -> bool:
        self._wrote(edge.followee_id)
        traced = traces.traceparent()
        and_trace = ", traceparent = :trace" if traced else ""
        trace = {":trace": {"S": traced}} if traced else {}
        key = edge_key(edge.follower_id, edge.followee_id)
        accepted: Any = {
            "TableName": self._requests,
            "Key": key,
            "UpdateExpression": f"SET accepted_at = :now, expires_at = :then{and_trace}",
            "ConditionExpression": "attribute_exists(followee_id) AND attribute_not_exists(accepted_at)",
            "ExpressionAttributeValues": {":now": {"N": str(now)}, ":then": {"N": str(now // 1000 + KEPT_S)}, **trace},
        }
        written: Any = {
            "TableName": self._followers,
            "Key": key,
            "UpdateExpression": f"SET followed_at = if_not_exists(followed_at, :now), part = :part{and_trace}",
            "ExpressionAttributeValues": {":now": {"N": str(now)}, ":part": _part(edge)[FOLLOWERS.part], **trace},
        }
        return not transact(self._dynamodb, [{"Update": accepted}, {"Update": written}, *self._unblocked(edge)])

    def clear(self, edge: Edge) -> None:
        """Delete the row on condition that it is left over: the follower may have asked again by now."""
        self._delete(self._requests, edge, "attribute_exists(accepted_at)")

    def _put(self, table: str, edge: Edge, when: str, now: int, more: Any = MappingProxyType({})) -> bool:
        """Write a row unless there is one, so that a repeat is no change in the stream."""
        self._wrote(edge.followee_id)
        row: Any = {**edge_key(edge.follower_id, edge.followee_id), when: {"N": str(now)}, **more}
        if traced := traces.traceparent():
            row[FOLLOWERS.traceparent] = {"S": traced}
        put = {"TableName": table, "Item": row, "ConditionExpression": "attribute_not_exists(followee_id)"}
        refused = transact(self._dynamodb, [{"Put": put}, *self._unblocked(edge)])
        return {*refused} <= {0}

    def _delete(self, table: str, edge: Edge, condition: str = "") -> None:
        self._wrote(edge.followee_id)
        only_if: Any = {"ConditionExpression": condition} if condition else {}
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            retry_conflicts(
                lambda: self._dynamodb.delete_item(
                    TableName=table, Key=edge_key(edge.follower_id, edge.followee_id), **only_if
                )
            )

    def _unblocked(self, edge: Edge) -> list[Any]:
        """Return the conditions that neither blocks the other."""
        keys = block_key(edge.follower_id, edge.followee_id), block_key(edge.followee_id, edge.follower_id)
        absent = "attribute_not_exists(pair)"
        return [
            {"ConditionCheck": {"TableName": self._blocks, "Key": key, "ConditionExpression": absent}} for key in keys
        ]


def _part(edge: Edge) -> Any:
    return {FOLLOWERS.part: {"S": FOLLOWERS.part_of(edge.followee_id, edge.follower_id)}}
