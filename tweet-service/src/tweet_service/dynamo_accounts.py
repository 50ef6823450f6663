"""Accounts in DynamoDB: follow-service's tables users, followers and blocks, as tweets need them."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.profiles import PROJECTION, read_profile
from contracts.tables import BLOCKS, FOLLOWERS, USERS
from murmuration_runtime.dynamo import errors_named, items_of_tables
from tweet_service.audience import Author
from tweet_service.erasure import Due

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoAccounts:
    """Reads accounts, follows and blocks; all it ever writes is that an account's tweets are gone."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._users = f"{table_prefix}{USERS.name}"
        self._followers = f"{table_prefix}{FOLLOWERS.name}"
        self._blocks = f"{table_prefix}{BLOCKS.name}"

    def authors(self, user_ids: Collection[str], reader_id: str) -> Mapping[str, Author]:
        """Ask for four rows of each author, a hundred rows a request; of the reader themselves for one."""
        others = [user_id for user_id in user_ids if user_id != reader_id]
        keys: list[tuple[str, Any]] = [(self._users, {USERS.user_id: {"S": user_id}}) for user_id in user_ids]
        keys += [(self._followers, _edge(reader_id, user_id)) for user_id in others]
        pairs = [pair for user_id in others for pair in ((reader_id, user_id), (user_id, reader_id))]
        keys += [(self._blocks, {BLOCKS.pair: {"S": BLOCKS.pair_of(*pair)}}) for pair in pairs]
        projected = {
            self._users: {"ProjectionExpression": PROJECTION},
            self._followers: {"ProjectionExpression": FOLLOWERS.followee_id},
            self._blocks: {"ProjectionExpression": BLOCKS.pair},
        }
        rows: dict[str, Any] = {}
        followed, blocks = {reader_id}, set()
        for table, item in items_of_tables(self._dynamodb, keys, projected):
            if table == self._users:
                rows[item[USERS.user_id]["S"]] = item
            elif table == self._followers:
                followed.add(item[FOLLOWERS.followee_id]["S"])
            else:
                blocks.add(item[BLOCKS.pair]["S"])
        return {
            user_id: Author(
                is_private=row.get(USERS.is_private, {}).get("BOOL", False),
                deleted=USERS.deleted_at in row,
                profile=read_profile(row),
                followed=user_id in followed,
                blocked=BLOCKS.pair_of(reader_id, user_id) in blocks,
                blocks=BLOCKS.pair_of(user_id, reader_id) in blocks,
            )
            for user_id in user_ids
            for row in (rows.get(user_id, {}),)
        }

    def due(self) -> list[Due]:
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._users,
            IndexName=USERS.by_erasure,
            KeyConditionExpression="erasure = :due",
            ExpressionAttributeValues={":due": {"S": USERS.DUE}},
        )
        with errors_named():
            return [
                Due(item[USERS.user_id]["S"], int(item[USERS.deleted_at]["N"]))
                for page in pages
                for item in page["Items"]
            ]

    def erased(self, due: Due) -> None:
        """If a transaction holds the account's item, it stays on the list, and is looked at again."""
        refusals = self._dynamodb.exceptions
        with errors_named(), suppress(refusals.ConditionalCheckFailedException, refusals.TransactionConflictException):
            self._dynamodb.update_item(
                TableName=self._users,
                Key={USERS.user_id: {"S": due.author_id}},
                UpdateExpression="REMOVE erasure ADD version :one",
                ConditionExpression="deleted_at = :at",
                ExpressionAttributeValues={":at": {"N": str(due.deleted_at)}, ":one": {"N": "1"}},
            )


def _edge(follower_id: str, followee_id: str) -> Any:
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}
