"""Acts at times that were fixed beforehand, and HTTP over connections that stay open, with as little work as can be.

Rule: an act's time counts from when it was due. What could not begin because others took so long has waited, too.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, cast

MOST_CONNECTIONS = 128
NO_BODY = 204

Act = Callable[[float], Coroutine[Any, Any, None]]
"""Is told when it was due, in the time of the running loop."""


class Answer(NamedTuple):
    """A status, 0 if nobody answered in time, and the body."""

    status: int
    body: bytes = b""


class Connections:
    """So many to one place, each opened when it is needed; whoever finds none free waits in a queue."""

    def __init__(self, host: str, port: int, most: int = MOST_CONNECTIONS) -> None:
        self._place = host, port
        self._free: asyncio.LifoQueue[_Connection | None] = asyncio.LifoQueue()
        for _ in range(most):
            self._free.put_nowait(None)

    async def ask(self, request: bytes, until: float) -> Answer:
        """Send a request and return the answer; give up when the loop's time is `until`."""
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout_at(until):
                connection = await self._free.get()
                try:
                    if connection is None or connection.ended:
                        connection = await self._open()
                    return await connection.ask(request)
                finally:
                    self._free.put_nowait(connection)
        return Answer(0)

    def close(self) -> None:
        """Close all that nobody uses."""
        while not self._free.empty():
            if connection := self._free.get_nowait():
                connection.close()

    async def _open(self) -> "_Connection":
        return (await asyncio.get_running_loop().create_connection(_Connection, *self._place))[1]


async def play(plan: Sequence[tuple[float, Act]]) -> list[float]:
    """Begin each act when it is due, in seconds from now, however long others take; return how late each began."""
    loop = asyncio.get_running_loop()
    began, late = loop.time(), []
    async with asyncio.TaskGroup() as tasks:
        for due, act in plan:
            await asyncio.sleep(max(0.0, began + due - loop.time()))
            late.append(loop.time() - began - due)
            tasks.create_task(act(began + due))
    return late


class _Connection(asyncio.Protocol):
    """One request after the other."""

    ended = False
    _transport: asyncio.Transport
    _answer: asyncio.Future[Answer] | None = None
    _data = b""

    async def ask(self, request: bytes) -> Answer:
        self._data, self._answer = b"", asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answer
        except asyncio.CancelledError:  # what comes now is the answer to nobody's question
            self.close()
            raise

    def close(self) -> None:
        self.ended = True
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, complete, body = self._data.partition(b"\r\n\r\n")
        if not complete or self._answer is None or self._answer.done():
            return
        status, head = int(head[9:12]), head.lower()
        length = 0 if status == NO_BODY else int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        if len(body) >= length:
            if b"\r\nconnection: close" in head:
                self.close()
            self._answer.set_result(Answer(status, body))

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionResetError("the connection was closed"))
