"""How a service that answers requests sends to DynamoDB: through a gate, and within the request's deadline.

Rule: any HTTP answer shows that DynamoDB is there. A try that had less than half its patience, because the deadline
came first, shows nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from murmuration_runtime import deadlines
from murmuration_runtime.dynamo_wire import Answer, Request
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.store_gate import StoreGate

if TYPE_CHECKING:
    from collections.abc import Callable

TRIES = 4  # one table's partition may be slow by itself; DynamoDB is given up when nobody is answered
PAUSE_SECONDS = 1.0  # the longest pause that botocore makes before a second try


class DynamoGate:
    """Lets calls through as long as DynamoDB answers; the time that is left bounds how long each waits."""

    def __init__(self, send: Callable[[Request, float], Answer], url: str, patience: float) -> None:
        """patience: seconds that a call waits for at most."""
        self._send = send
        self._url = url
        self._patience = patience
        self._gate = StoreGate("dynamodb", self._probe, TRIES)

    def send(self, request: Request) -> Answer:
        """Send a request, and return the answer."""
        self._gate.enter()
        answered: bool | None = None
        try:
            left = deadlines.remaining(self._patience)
            answered, began = False, time.monotonic()
            answer = self._send(request, left)
            answered = True
        except (ConnectTimeoutError, ReadTimeoutError):
            answered = False if time.monotonic() - began >= self._patience / 2 else None
            raise
        else:
            return answer
        finally:
            self._gate.leave(answered=answered)

    def _probe(self) -> None:
        """Ask for nothing: that is answered, too."""
        self._send(Request(self._url, "", b""), self._patience)


def no_time_left(caught_exception: Exception | None, **_: Any) -> bool | None:
    """Refuse another try that the deadline would cut short; a store that was not asked is not asked again."""
    is_asked = not isinstance(caught_exception, StoreAwayError)
    return None if is_asked and deadlines.allows(PAUSE_SECONDS) else False
