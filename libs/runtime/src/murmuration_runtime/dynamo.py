"""DynamoDB: clients that give up soon, errors named by what to do, and patience with transactions.

Rule: a failed condition and a cancelled transaction are answers, and go up as they are. What another try may mend is
StoreAwayError, and StoreBusyError if DynamoDB said so; what somebody must correct is StoreRefusedError. Anything else
is our own mistake, and goes up too.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError
from botocore.httpsession import where
from tenacity import RetryCallState, RetryError, Retrying, retry_if_exception, wait_random_exponential

from murmuration_runtime import deadlines
from murmuration_runtime.dynamo_calls import Calls
from murmuration_runtime.dynamo_gate import DynamoGate, no_time_left
from murmuration_runtime.dynamo_wire import Wire
from murmuration_runtime.errors import StoreAwayError, StoreBusyError, StoreRefusedError
from murmuration_runtime.metrics import STORE_ERRORS
from murmuration_runtime.throttled_writes import wait_out
from murmuration_runtime.throttling import count_throttling, throttled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

    Answer = TypeVar("Answer")

CONNECT_SECONDS, READ_SECONDS = 0.5, 1.0  # of a request: there is time for two tries
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


def client(*, attempts: int = 3, connect_seconds: float = 1, read_seconds: float = 2) -> DynamoDBClient:
    """Make a client whose calls end within seconds."""
    made: DynamoDBClient = _made("dynamodb", attempts, connect_seconds, read_seconds)
    return made


def streams_client(*, attempts: int = 3, connect_seconds: float = 1, read_seconds: float = 2) -> DynamoDBStreamsClient:
    """Make a client of DynamoDB's streams, whose calls end within seconds."""
    made: DynamoDBStreamsClient = _made("dynamodbstreams", attempts, connect_seconds, read_seconds)
    return made


def client_for_requests() -> DynamoDBClient:
    """Make the client of a service that answers requests: it obeys their deadlines, and leaves alone what is silent."""
    made: DynamoDBClient = _made("dynamodb", 2, CONNECT_SECONDS, READ_SECONDS, gated=True)
    events: Any = made.meta.events
    events.register_first("needs-retry.dynamodb", no_time_left, unique_id="no-time-left")
    return made


@cache
def session() -> botocore.session.Session:
    """Return what all clients of this process are made from: they share credentials."""
    return botocore.session.get_session()


def _made(service: Any, attempts: int, connect_seconds: float, read_seconds: float, *, gated: bool = False) -> Any:
    """Make a client that counts what is throttled, and makes its calls of rows the short way (dynamo_calls.py)."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    config = Config(connect_timeout=connect_seconds, read_timeout=read_seconds, retries=retries)
    made: Any = count_throttling(boto3.Session(botocore_session=session()).client(service, config=config))
    ca_file = session().get_config_variable("ca_bundle") or where()
    wire = Wire(session().get_credentials(), made.meta.region_name, ca_file, connect_seconds)
    alone = partial(wire.send, seconds=read_seconds)
    send = DynamoGate(wire.send, made.meta.endpoint_url, read_seconds).send if gated else alone
    made._make_api_call = Calls(made, send)  # noqa: SLF001 - the one place through which every call goes
    return made


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
            raise _counted(StoreBusyError(f"{store} is too busy or not ready: {error}"), store, code) from error
        raise


def items(dynamodb: DynamoDBClient, table: str, keys: Iterable[Any], **projected: Any) -> Iterator[Any]:
    """Give the items that are there, as far as they are projected, strongly consistent, however many keys there are."""
    for _, item in items_of_tables(dynamodb, [(table, key) for key in keys], {table: projected}):
        yield item


def items_of_tables(
    dynamodb: DynamoDBClient, keys: Iterable[tuple[str, Any]], projected: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Give the same of several tables, with each item's table; what is projected stands by table."""
    left, times = list(keys), 0
    while left:
        request: Any = {}
        for table, key in left[:BATCH]:
            request.setdefault(table, {"Keys": [], "ConsistentRead": True, **projected.get(table, {})})["Keys"] += [key]
        with errors_named():
            answer = dynamodb.batch_get_item(RequestItems=request)
        for table, found in answer["Responses"].items():
            for item in found:
                yield table, item
        unread = [(table, key) for table, part in answer["UnprocessedKeys"].items() for key in part["Keys"]]
        times = times + 1 if unread else 0
        if times == MOST_THROTTLED:
            tables = ", ".join(sorted({table for table, _ in unread}))
            raise StoreBusyError(f"DynamoDB left keys of {tables} unread {times} times in a row")
        time.sleep(THROTTLED_SECONDS * times)
        left = [*unread, *left[BATCH:]]


def retry_conflicts(write: Callable[[], Answer]) -> Answer:
    """Write, and wait out a transaction that holds the item for a moment."""
    try:
        answer: Answer = _CONFLICTS(_named, write)
    except RetryError as error:
        times = error.last_attempt.attempt_number
        raise StoreAwayError(f"DynamoDB: an item was locked by other transactions {times} times in a row") from error
    return answer


def transact(dynamodb: DynamoDBClient, actions: Sequence[Any]) -> list[int]:
    """Do all of these writes or none; return the places of those whose conditions failed, none if all is done.

    An answer that was lost is asked for again under the transaction's own token, by botocore. What is throttled is
    waited out as far as throttled_writes.py allows.
    """
    try:
        wait_out(lambda: retry_conflicts(lambda: dynamodb.transact_write_items(TransactItems=actions)), _is_throttled)
    except dynamodb.exceptions.TransactionCanceledException as error:
        codes = [reason.get("Code", "None") for reason in error.response["CancellationReasons"]]
        if throttled(codes):
            raise StoreAwayError(f"DynamoDB is too busy for a transaction: {error}") from error
        if refused := [place for place, code in enumerate(codes) if code == "ConditionalCheckFailed"]:
            return refused
        raise
    return []


def reasons(error: ClientError) -> set[str]:
    """Return why DynamoDB refused a write: one reason, or one for each action of a transaction."""
    cancelled: Any = error.response.get("CancellationReasons", ())
    return {error.response["Error"]["Code"].removesuffix("Exception"), *(reason.get("Code") for reason in cancelled)}


def _named(write: Callable[[], Answer]) -> Answer:
    with errors_named():
        return write()


def _is_conflict(error: BaseException) -> bool:
    return isinstance(error, ClientError) and "TransactionConflict" in reasons(error)


def _is_throttled(error: Exception) -> bool:
    """Say whether a write was throttled, by what errors_named makes of it or as a transaction says it."""
    told = error if isinstance(error, ClientError) else error.__cause__
    return isinstance(told, ClientError) and throttled(reasons(told))


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
