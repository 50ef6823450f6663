"""DynamoDB as this service asks it: one try, errors named by what to do, and pages as they came.

Reading is botocore's in all but one thing: a page of a query stays the JSON that came. Checking each value against the
service's model is most of what botocore takes for a page.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fanout_worker.deliveries import StoreAwayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_MEANT_FOR_CALLERS = {"ConditionalCheckFailedException", "TransactionConflictException"}


def client() -> "DynamoDBClient":
    """Build a client that tries once and gives up within seconds: whoever calls tries again."""
    retries: Any = {"mode": "standard", "total_max_attempts": 1}
    dynamodb = boto3.client(
        "dynamodb", config=Config(connect_timeout=2, read_timeout=4, retries=retries, max_pool_connections=40)
    )
    dynamodb.meta.events.register("before-parse.dynamodb.Query", _decode)
    return dynamodb


def _decode(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Decode a page and leave nothing of it to botocore's parser; errors are left as they are."""
    if response_dict["status_code"] != HTTPStatus.OK:
        return
    try:
        customized_response_dict |= json.loads(response_dict["body"])
    except ValueError as error:
        raise StoreAwayError(f"a page that is no JSON: {error}") from error
    response_dict["body"] = b"{}"


@contextmanager
def away() -> Iterator[None]:
    """Name what another try may mend; what a condition or a transaction says is for the caller."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] in _MEANT_FOR_CALLERS:
            raise
        raise StoreAwayError(f"DynamoDB refused: {error}") from error
    except BotoCoreError as error:
        raise StoreAwayError(f"DynamoDB did not answer: {error}") from error
