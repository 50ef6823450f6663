"""How DynamoDB is spoken to: soon answered, and its absence named."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tweet_service.tweets import StoreAwayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_PASSING = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",  # the tables are still to be made
    "ThrottlingException",
}


def client(attempts: int = 3) -> "DynamoDBClient":
    """Build a client that gives up within seconds, so that a request never hangs on its store."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return boto3.client(
        "dynamodb", config=Config(connect_timeout=1, read_timeout=2, retries=retries, max_pool_connections=32)
    )


@contextmanager
def away() -> Iterator[None]:
    """Name what is worth another try; anything else is our own mistake and goes up as it is."""
    try:
        yield
    except BotoCoreError as error:
        raise StoreAwayError(f"DynamoDB did not answer: {error}") from error
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        code = error.response["Error"]["Code"]
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _PASSING:
            raise StoreAwayError(f"DynamoDB refused for now: {error}") from error
        raise
