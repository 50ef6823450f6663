"""Accounts that went public, in DynamoDB, and who asks to follow them."""

from typing import TYPE_CHECKING, Any

from contracts.tables import FOLLOW_REQUESTS, USERS
from follow_service.dynamo_facts import Reader, edge_key, user_key
from follow_service.dynamo_marks import take_off
from follow_service.openings import Opened
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 100


class DynamoOpenings:
    """The Pending of accounts on the tables users and follow_requests."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._reader = Reader(dynamodb, table_prefix)
        self._users = f"{table_prefix}{USERS.name}"
        self._requests = f"{table_prefix}{FOLLOW_REQUESTS.name}"

    def due(self) -> list[Opened]:
        """Ask the index who they are, and the table which of them are public still, and since when."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self._users,
            IndexName=USERS.by_opening,
            KeyConditionExpression="opening = :due",
            ExpressionAttributeValues={":due": {"S": USERS.DUE}},
        )
        with errors_named():
            named = [item[USERS.user_id]["S"] for page in pages for item in page["Items"]]
        rows = self._reader.read(users=named).users
        return [
            Opened(user_id, int(rows[user_id][USERS.opened_at]["N"]))
            for user_id in named
            if USERS.opened_at in rows.get(user_id, {})
        ]

    def asking(self, user_id: str, after: str | None) -> tuple[list[str], str | None]:
        begin: Any = {"ExclusiveStartKey": edge_key(after, user_id)} if after else {}
        with errors_named():
            answer = self._dynamodb.query(
                TableName=self._requests,
                KeyConditionExpression="followee_id = :me",
                FilterExpression="attribute_not_exists(accepted_at)",
                ExpressionAttributeValues={":me": {"S": user_id}},
                ConsistentRead=True,
                Limit=PAGE,
                **begin,
            )
        last = answer.get("LastEvaluatedKey")
        name = FOLLOW_REQUESTS.follower_id
        return [item[name]["S"] for item in answer["Items"]], last[name]["S"] if last else None

    def opened(self, due: Opened) -> None:
        take_off(
            self._dynamodb,
            self._users,
            user_key(due.user_id),
            "REMOVE opening, opened_at",
            "opened_at = :at",
            due.opened_at,
        )
