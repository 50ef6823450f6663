"""Who is a celebrity: the index of the table users that has nobody else."""

from typing import TYPE_CHECKING

from contracts.tables import USERS
from murmuration_runtime.dynamo import errors_named

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoCelebrities:
    """The index by_celebrity."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = f"{table_prefix}{USERS.name}"

    def celebrities(self) -> frozenset[str]:
        """Return who is a celebrity; to read the index whole is cheap."""
        with errors_named():
            pages = self._dynamodb.get_paginator("scan").paginate(TableName=self._table, IndexName=USERS.by_celebrity)
            return frozenset(item[USERS.user_id]["S"] for page in pages for item in page["Items"])
