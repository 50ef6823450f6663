"""Accounts as the table users has them, page by page, strongly consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cdc_bridge.account_states import ATTRIBUTES
from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.images import Row
from contracts.tables import USERS
from murmuration_runtime.dynamo import items

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 100  # as many as one BatchGetItem reads again
_NAMES = {f"#{name}": name for name in ATTRIBUTES}
_PROJECTED: Any = {"ProjectionExpression": ", ".join(_NAMES), "ExpressionAttributeNames": _NAMES}


class Accounts:
    """The table users."""

    def __init__(
        self, dynamodb: DynamoDBClient, table_prefix: str, before_page: Callable[[], object], page: int = PAGE
    ) -> None:
        """Take whom to ask before each page, to limit the rate."""
        self._page = page
        self._dynamodb = dynamodb
        self._table = table_prefix + USERS.name
        self._before_page = before_page

    def page(self, after: str | None) -> tuple[Mapping[str, Row], str | None]:
        self._before_page()
        begin: Any = {"ExclusiveStartKey": _key(after)} if after else {}
        with errors_about(f"table {self._table}"):
            page = self._dynamodb.scan(
                TableName=self._table, Limit=self._page, ConsistentRead=True, **_PROJECTED, **begin
            )
        last = page.get("LastEvaluatedKey")
        return _rows(page["Items"]), last[USERS.user_id]["S"] if last else None

    def again(self, user_ids: Collection[str]) -> Mapping[str, Row]:
        with errors_about(f"table {self._table}"):
            return _rows(list(items(self._dynamodb, self._table, [_key(each) for each in user_ids], **_PROJECTED)))


def _key(user_id: str) -> dict[str, Any]:
    return {USERS.user_id: {"S": user_id}}


def _rows(found: list[Any]) -> Mapping[str, Row]:
    return {item[USERS.user_id]["S"]: Row("the row", item) for item in found}
