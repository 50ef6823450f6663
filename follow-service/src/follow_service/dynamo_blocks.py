"""Who blocks and who mutes whom, in DynamoDB: each call is one request."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES
from follow_service.dynamo_facts import block_key, edge_key, mute_key
from murmuration_runtime import traces
from murmuration_runtime.dynamo import retry_conflicts, transact

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoBlocks:
    """The Store of blocks on the tables blocks and mutes."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._blocks = f"{table_prefix}{BLOCKS.name}"
        self._mutes = f"{table_prefix}{MUTES.name}"
        self._severed = f"{table_prefix}{FOLLOWERS.name}", f"{table_prefix}{FOLLOW_REQUESTS.name}"

    def block(self, blocker_id: str, blocked_id: str, now: int) -> None:
        """Write nothing that a repeat would change: neither the row nor the stream tells of one."""
        values = {
            BLOCKS.blocker_id: {"S": blocker_id},
            BLOCKS.blocked_id: {"S": blocked_id},
            BLOCKS.blocked_at: {"N": str(now)},
            **_trace(),
        }
        blocked: Any = {
            "TableName": self._blocks,
            "Key": block_key(blocker_id, blocked_id),
            "UpdateExpression": "SET " + ", ".join(f"{name} = if_not_exists({name}, :{name})" for name in values),
            "ExpressionAttributeValues": {f":{name}": value for name, value in values.items()},
        }
        pairs = (blocker_id, blocked_id), (blocked_id, blocker_id)
        severed = [{"TableName": table, "Key": edge_key(*pair)} for table in self._severed for pair in pairs]
        transact(self._dynamodb, [{"Update": blocked}, *({"Delete": each} for each in severed)])

    def unblock(self, blocker_id: str, blocked_id: str) -> None:
        key = block_key(blocker_id, blocked_id)
        retry_conflicts(lambda: self._dynamodb.delete_item(TableName=self._blocks, Key=key))

    def mute(self, muter_id: str, muted_id: str, now: int) -> None:
        row: Any = {**mute_key(muter_id, muted_id), MUTES.muted_at: {"N": str(now)}, **_trace()}
        with suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            retry_conflicts(
                lambda: self._dynamodb.put_item(
                    TableName=self._mutes, Item=row, ConditionExpression="attribute_not_exists(muter_id)"
                )
            )

    def unmute(self, muter_id: str, muted_id: str) -> None:
        key = mute_key(muter_id, muted_id)
        retry_conflicts(lambda: self._dynamodb.delete_item(TableName=self._mutes, Key=key))


def _trace() -> dict[str, Any]:
    """Return the attribute by which the bridge finds the trace of this request; none if it is not traced."""
    traceparent = traces.traceparent()
    return {BLOCKS.traceparent: {"S": traceparent}} if traceparent else {}
