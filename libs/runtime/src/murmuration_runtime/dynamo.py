"""DynamoDB: clients that give up soon, errors named by what to do, and patience with transactions.

Rule: a failed condition and a cancelled transaction are answers, and go up as they are. What another try may mend is
StoreAwayError; what somebody must correct is StoreRefusedError. Anything else is our own mistake, and goes up too.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
import orjson
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError
from tenacity import RetryCallState, RetryError, Retrying, retry_if_exception, wait_random_exponential

from murmuration_runtime import deadlines
from murmuration_runtime.dynamo_session import obey_deadlines
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_runtime.metrics import STORE_ERRORS
from murmuration_runtime.throttling import count_throttling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient

    Answer = TypeVar("Answer")

CONNECT_SECONDS, READ_SECONDS = 0.5, 1.0  # of a request: there is time for two tries
USER_AGENT = "murmuration"  # botocore's own is put together anew for each request: a tenth of what one takes
BATCH = 100  # keys that one BatchGetItem takes
MOST_THROTTLED = 5  # answers in a row that leave keys unread
THROTTLED_SECONDS = 0.02  # the first pause; each is longer by this than the one before
CONFLICT_ATTEMPTS = 8
CONFLICT_SECONDS = 0.02  # the first pause is shorter than this; each may be twice as long as the one before
PASSING = {
    "IDPCommunicationError",  # of STS, which is asked for credentials within a call
    "InternalServerError",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "ReplicatedWriteConflictException",
    "RequestLimitExceeded",
    "ResourceNotFoundException",  # the tables are still to be made
    "Throttling",
    "ThrottlingException",
    "TransactionInProgressException",
}
REFUSING = {
    "AccessDenied",  # of STS
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidIdentityToken",  # of STS
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
}


def client(
    *,
    attempts: int = 3,
    connect_seconds: float = 1,
    read_seconds: float = 2,
    connections: int = 32,
    plain: Sequence[str] = (),
    checked: bool = True,
) -> DynamoDBClient:
    """Make a client whose calls end within seconds; answers of the `plain` operations stay the JSON that came.

    Unless checked, DynamoDB alone judges what is sent: botocore's checks are half of what it takes for a transaction.
    """
    config = patience(attempts, connect_seconds, read_seconds, connections).merge(
        Config(parameter_validation=checked, user_agent=USER_AGENT)
    )
    return answers_plainly(count_throttling(boto3.client("dynamodb", config=config)), plain)


def client_for_requests(*, plain: Sequence[str] = (), checked: bool = True) -> DynamoDBClient:
    """Make the client of a service that answers requests: it obeys their deadlines, and leaves alone what is silent."""
    made = client(attempts=2, connect_seconds=CONNECT_SECONDS, read_seconds=READ_SECONDS, plain=plain, checked=checked)
    return obey_deadlines(made, READ_SECONDS)


def patience(attempts: int, connect_seconds: float, read_seconds: float, connections: int) -> Config:
    """Return the settings of a client, of the streams' too, whose calls end within seconds."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    return Config(
        connect_timeout=connect_seconds,
        read_timeout=read_seconds,
        retries=retries,
        max_pool_connections=connections,
    )


Client = TypeVar("Client")


def answers_plainly(made: Client, operations: Sequence[str]) -> Client:
    """Let these operations' answers stay the JSON that came: checking each value is most of what botocore takes.

    Binary then stays base64, and a time stays seconds.
    """
    events: Any = made
    for operation in operations:
        service = events.meta.service_model.service_id.hyphenize()
        events.meta.events.register(f"before-parse.{service}.{operation}", _decode)
    return made


def _decode(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Decode an answer and leave nothing of it to botocore's parser; errors are left as they are."""
    if response_dict["status_code"] != HTTPStatus.OK:
        return
    try:
        customized_response_dict |= orjson.loads(response_dict["body"])
    except ValueError as error:
        raise StoreAwayError(f"DynamoDB sent an answer that is no JSON: {error}") from error
    response_dict["body"] = b"{}"


@contextmanager
def errors_named(store: str = "DynamoDB") -> Iterator[None]:
    """Name botocore's errors by what the caller should do; see the rule."""
    try:
        yield
    except ParamValidationError:
        raise
    except NoCredentialsError as error:
        raise _counted(StoreRefusedError(f"{store} cannot be asked: {error}"), store, "NoCredentials") from error
    except BotoCoreError as error:
        raise _counted(StoreAwayError(f"{store} did not answer: {error}"), store, type(error).__name__) from error
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in REFUSING:
            raise _counted(StoreRefusedError(f"{store} refuses this process: {error}"), store, code) from error
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        if code in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _counted(StoreAwayError(f"{store} is too busy or not ready: {error}"), store, code) from error
        raise


def items(dynamodb: DynamoDBClient, table: str, keys: Sequence[Any], **projected: Any) -> Iterator[Any]:
    """Give the items that are there, as far as they are projected, strongly consistent, however many keys there are."""
    wanted, throttled = list(keys), 0
    while wanted:
        request: Any = {table: {"Keys": wanted[:BATCH], "ConsistentRead": True, **projected}}
        with errors_named():
            answer = dynamodb.batch_get_item(RequestItems=request)
        yield from answer["Responses"].get(table, [])
        left = answer["UnprocessedKeys"].get(table, {"Keys": []})["Keys"]
        throttled = throttled + 1 if left else 0
        if throttled == MOST_THROTTLED:
            raise StoreAwayError(f"DynamoDB left keys of {table} unread {throttled} times in a row")
        time.sleep(THROTTLED_SECONDS * throttled)
        wanted = [*left, *wanted[BATCH:]]


def retry_conflicts(write: Callable[[], Answer]) -> Answer:
    """Write, and wait out a transaction that holds the item for a moment."""
    try:
        answer: Answer = _CONFLICTS(_named, write)
    except RetryError as error:
        times = error.last_attempt.attempt_number
        raise StoreAwayError(f"DynamoDB: an item was locked by other transactions {times} times in a row") from error
    return answer


def reasons(error: ClientError) -> set[str]:
    """Return why DynamoDB refused a write: one reason, or one for each action of a transaction."""
    cancelled: Any = error.response.get("CancellationReasons", ())
    return {error.response["Error"]["Code"].removesuffix("Exception"), *(reason.get("Code") for reason in cancelled)}


def _named(write: Callable[[], Answer]) -> Answer:
    with errors_named():
        return write()


def _is_conflict(error: BaseException) -> bool:
    return isinstance(error, ClientError) and "TransactionConflict" in reasons(error)


def _is_enough(state: RetryCallState) -> bool:
    return state.attempt_number >= CONFLICT_ATTEMPTS or not deadlines.allows(state.upcoming_sleep)


_CONFLICTS = Retrying(
    retry=retry_if_exception(_is_conflict),
    wait=wait_random_exponential(multiplier=CONFLICT_SECONDS, max=CONFLICT_SECONDS * 2**CONFLICT_ATTEMPTS),
    stop=_is_enough,
)


def _counted(error: StoreAwayError, store: str, reason: str) -> StoreAwayError:
    STORE_ERRORS.labels(store.lower(), reason).inc()
    return error
