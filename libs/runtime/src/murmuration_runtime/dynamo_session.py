"""How the DynamoDB client of a service that answers requests sends: through a gate, and within the request's deadline.

Rule: any HTTP answer shows that DynamoDB is there. A try that had less than half its patience, because the deadline
came first, shows nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.store_gate import StoreGate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRIES = 4  # one table's partition may be slow by itself; DynamoDB is given up when nobody is answered
PAUSE_SECONDS = 1.0  # the longest pause that botocore makes before a second try


class DynamoSession:
    """Sends as the client's own session does. The time that is left bounds how long it waits for an answer."""

    def __init__(self, session: Any, address: str, patience: float) -> None:
        self._session = session
        self._address = address
        self._patience = patience
        self._gate = StoreGate("dynamodb", self._probe, TRIES)

    def send(self, request: Any) -> Any:
        """Send a request and return the answer, as botocore has it."""
        self._gate.enter()
        answered: bool | None = None
        try:
            left = deadlines.remaining(self._patience)
            if left < self._patience:
                request.context["read_timeout"] = left
            answered, began = False, time.monotonic()
            answer = self._session.send(request)
            answered = True
        except (ConnectTimeoutError, ReadTimeoutError):
            answered = False if time.monotonic() - began >= self._patience / 2 else None
            raise
        else:
            return answer
        finally:
            self._gate.leave(answered=answered)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _probe(self) -> None:
        """Ask for nothing, without a signature: that is answered, too."""
        self._session.send(AWSRequest("GET", self._address).prepare())


def obey_deadlines(dynamodb: DynamoDBClient, patience: float) -> DynamoDBClient:
    """Send what this client sends through a gate and within deadlines; patience: seconds that it reads for at most."""
    client: Any = dynamodb
    endpoint = client._endpoint  # noqa: SLF001 - botocore takes timeouts per client, and lets nobody in around a call
    endpoint.http_session = DynamoSession(endpoint.http_session, client.meta.endpoint_url, patience)
    client.meta.events.register_first("needs-retry.dynamodb", _no_time_left, unique_id="no-time-left")
    return dynamodb


def _no_time_left(caught_exception: Exception | None, **_: object) -> bool | None:
    """Refuse another try that the deadline would cut short; a store that was not asked is not asked again."""
    is_asked = not isinstance(caught_exception, StoreAwayError)
    return None if is_asked and deadlines.allows(PAUSE_SECONDS) else False
