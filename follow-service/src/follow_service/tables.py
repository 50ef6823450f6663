"""How DynamoDB is spoken to: soon answered, patient with transactions, and its absence named."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from follow_service.profiles import StoreAwayError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONFLICT_ATTEMPTS = 8
_PASSING = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",  # the tables are still to be made
    "ThrottlingException",
    "TransactionInProgressException",
}
Answer = TypeVar("Answer")


def client(attempts: int = 3) -> "DynamoDBClient":
    """Build a client that gives up within seconds, so that a request never hangs on its store."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return boto3.client(
        "dynamodb", config=Config(connect_timeout=1, read_timeout=2, retries=retries, max_pool_connections=32)
    )


def patiently(write: Callable[[], Answer]) -> Answer:
    """Write, waiting out a transaction that holds the item for a moment."""
    for attempt in range(CONFLICT_ATTEMPTS):
        try:
            with away():
                return write()
        except ClientError as error:
            if "TransactionConflict" not in reasons(error):
                raise
            time.sleep(random.uniform(0, 0.02 * 2**attempt))
    raise StoreAwayError(f"an item was locked by other transactions {CONFLICT_ATTEMPTS} times in a row")


def reasons(error: ClientError) -> set[str]:
    """Say why DynamoDB refused: one reason for a write, one for each of a transaction's."""
    cancelled: Any = error.response.get("CancellationReasons", ())
    return {error.response["Error"]["Code"].removesuffix("Exception"), *(reason.get("Code") for reason in cancelled)}


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
