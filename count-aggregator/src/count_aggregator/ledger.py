"""Counts and the positions they stand for, in DynamoDB: one transaction moves both or neither."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from count_aggregator.tally import Tally

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROOM = 100  # actions in one TransactWriteItems


class TryAgainError(Exception):
    """The write did not happen, or nobody knows whether it did: load the entries again and tally anew."""


@dataclass(frozen=True)
class Entry:
    """How far one shard has been counted in one Kafka partition; the version changes with every write."""

    sequence_number: int
    version: int


def client() -> "DynamoDBClient":
    """Build a client that tries once and gives up within seconds: whoever calls retries with fresh entries."""
    retries: Any = {"mode": "standard", "total_max_attempts": 1}
    return boto3.client(
        "dynamodb", config=Config(connect_timeout=2, read_timeout=4, retries=retries, max_pool_connections=16)
    )


class Ledger:
    """The tables ledgers and users."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._ledgers = f"{table_prefix}ledgers"
        self._users = f"{table_prefix}users"

    def check(self) -> None:
        """Raise unless both tables answer."""
        self._dynamodb.get_item(TableName=self._users, Key={"user_id": {"S": "-"}})
        self.load("-")

    def load(self, partition_id: str) -> dict[str, Entry]:
        """Return the entries of a partition, strongly consistent."""
        try:
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._ledgers,
                KeyConditionExpression="partition_id = :partition",
                ExpressionAttributeValues={":partition": {"S": partition_id}},
                ConsistentRead=True,
            )
            return {
                item["shard_id"]["S"]: Entry(int(item["sequence_number"]["S"]), int(item["version"]["N"]))
                for page in pages
                for item in page["Items"]
            }
        except (BotoCoreError, ClientError) as error:
            raise TryAgainError(f"ledger {partition_id} not loaded: {error}") from error

    def write(self, partition_id: str, result: Tally, entries: dict[str, Entry]) -> dict[str, Entry]:
        """Add the tally and move its watermarks, if the entries are still what was loaded; return the new ones."""
        moved = {
            shard: Entry(sequence, entries[shard].version + 1 if shard in entries else 1)
            for shard, sequence in result.watermarks.items()
        }
        try:
            self._dynamodb.transact_write_items(
                TransactItems=[
                    *(self._entry(partition_id, shard, entry) for shard, entry in moved.items()),
                    *(self._counts(user, result.followers[user], result.following[user]) for user in result.users),
                ]
            )
        except (BotoCoreError, ClientError) as error:
            raise TryAgainError(f"tally of {partition_id} not known to be written: {error}") from error
        return {**entries, **moved}

    def _entry(self, partition_id: str, shard_id: str, entry: Entry) -> Any:
        condition: dict[str, Any] = (
            {"ConditionExpression": "attribute_not_exists(version)"}
            if entry.version == 1
            else {
                "ConditionExpression": "version = :loaded",
                "ExpressionAttributeValues": {":loaded": {"N": str(entry.version - 1)}},
            }
        )
        item = {
            "partition_id": {"S": partition_id},
            "shard_id": {"S": shard_id},
            "sequence_number": {"S": str(entry.sequence_number)},
            "version": {"N": str(entry.version)},
        }
        return {"Put": {"TableName": self._ledgers, "Item": item, **condition}}

    def _counts(self, user_id: str, followers: int, following: int) -> Any:
        return {
            "Update": {
                "TableName": self._users,
                "Key": {"user_id": {"S": user_id}},
                "UpdateExpression": "ADD followers_count :followers, following_count :following",
                "ExpressionAttributeValues": {
                    ":followers": {"N": str(followers)},
                    ":following": {"N": str(following)},
                },
            }
        }
