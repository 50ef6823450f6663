"""One Redis node, as this process talks to it: through a gate, and within the deadline.

Rule: a reply is an answer, an error too. A call that was not answered in time is not made again. One whose connection
turns out to have died while it lay idle is made once more, on a new one. Where one call waited in vain, connections
that lie idle are not trusted either: what cut one off may have cut them all.
"""

import time
from collections import deque
from contextlib import suppress
from typing import Any

from redis import Redis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ConnectionError,  # noqa: A004 - redis-py's own
    ResponseError,
    TimeoutError,  # noqa: A004 - redis-py's own
)

from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.store_gate import StoreGate

REPLIES = (ResponseError, AuthenticationError, AuthorizationError, BusyLoadingError)
UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"  # also a node that is there


class RedisNode:
    """Safe among threads."""

    def __init__(self, client: Redis, gate: StoreGate, patience: float) -> None:
        """patience: seconds that it may take to answer."""
        self.gate = gate
        self.patience = patience
        self.pool = client.connection_pool
        self.idle: deque[Any] = deque()  # redis-py's pool costs half a call

    def call(self, *command: str | int | bytes, raw: bool = False) -> Any:
        """Send a command and return the answer; raw: as bytes."""
        return Call(self, *command, raw=raw).answer()

    def connect(self) -> Any:
        """Return a new connection, which may take as long to make as the deadline allows."""
        left = deadlines.remaining(self.patience)
        if left == self.patience:
            connection = self.pool.connection_class(**self.pool.connection_kwargs)
            connection.connect()
        else:
            short = {"socket_connect_timeout": left, "socket_timeout": left}
            connection = self.pool.connection_class(**{**self.pool.connection_kwargs, **short})
            connection.connect()
            connection.update_current_socket_timeout(self.patience)
        return connection

    def close(self) -> None:
        """Close the connections that lie idle."""
        with suppress(IndexError):  # other threads take from them, too
            while True:
                self.idle.pop().disconnect()


class Call:
    """A command that is sent to a node when this is made. Whoever makes it asks once for the answer."""

    def __init__(self, node: RedisNode, *command: str | int | bytes, raw: bool = False) -> None:
        """raw: the answer is bytes, and not text."""
        self._node = node
        self._command = command
        self._raw = {"disable_decoding": True} if raw else {}
        self._connection: Any
        self._is_fresh = False
        self._fault: Exception | None = None
        self._refusal: StoreAwayError | None = None
        try:
            node.gate.enter()
        except StoreAwayError as error:
            self._refusal = error
            return
        self._began = time.monotonic()
        try:
            self._send()
        except Exception as error:  # noqa: BLE001 - it is raised when the answer is asked for, and the gate left
            self._fault = error

    def answer(self) -> Any:
        """Return the answer, or raise what went wrong: an error of Redis, or StoreAwayError."""
        if self._refusal:
            raise self._refusal
        answered: bool | None = None
        try:
            answer = self._answer()
            answered = True
        except REPLIES:
            answered = True
            raise
        except TimeoutError:
            if time.monotonic() - self._began >= self._node.patience / 2:
                answered = False
                self._node.close()
            raise
        except ConnectionError as error:
            answered = UNTRUSTED in str(error)
            raise
        else:
            return answer
        finally:
            self._node.gate.leave(answered=answered)

    def _answer(self) -> Any:
        try:
            return self._read()
        except REPLIES:
            raise
        except ConnectionError:
            if self._is_fresh:
                raise
        self._send(fresh=True)
        return self._read()

    def _send(self, *, fresh: bool = False) -> None:
        self._fault = None
        try:
            self._connection = self._node.connect() if fresh else self._node.idle.pop()
        except IndexError:
            self._connection, fresh = self._node.connect(), True
        self._is_fresh = fresh
        self._connection.send_command(*self._command)  # it disconnects when it fails

    def _read(self) -> Any:
        if self._fault:
            raise self._fault
        patience = self._node.patience
        try:
            left = deadlines.remaining(patience)
            timeout = {} if left == patience else {"timeout": left}
            answer = self._connection.read_response(**self._raw, **timeout)
        except ResponseError:
            self._node.idle.append(self._connection)
            raise
        except BaseException:
            self._connection.disconnect()
            raise
        self._node.idle.append(self._connection)
        return answer


def ping(pool: Any) -> None:
    """Ask whether the node is there, on a connection of its own; any reply will do."""
    connection = pool.connection_class(**pool.connection_kwargs)
    try:
        connection.send_command("PING")
        connection.read_response()
    except REPLIES:
        return
    except ConnectionError as error:
        if UNTRUSTED not in str(error):
            raise
    finally:
        connection.disconnect()
