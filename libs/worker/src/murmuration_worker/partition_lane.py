"""One partition's messages: threads, pauses and acknowledgements round lane.py.

Rule: only what was handled is acknowledged, in order, by hand. An exception ends the process: else the partition would
stand still unnoticed. Each partition has threads of its own, and a try holds one; to wait for the next try holds none.
A partition that has no room is held back at the consumer until it has.

No batch waits for company: a single message goes at once, and what comes meanwhile is the next batch. So batches are
small when there is time, and fill when there is none.
"""

import asyncio
import logging
import os
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from murmuration_runtime.retries import pauses
from murmuration_worker import exits
from murmuration_worker.continuity import Continuity
from murmuration_worker.lane import Lane, Order, Work
from murmuration_worker.messages import Message, pairs

Attempt = Callable[[Sequence[Message]], Callable[[], bool]]  # see Handler
_log = logging.getLogger(__name__)


class Source(Protocol):
    """Where the events of a topic come from, each with its message."""

    def events(self) -> AsyncIterator[Any]:
        """Give what comes."""

    def ack(self, event: Any) -> object:
        """Acknowledge an event."""

    def hold(self, event: Any) -> object:
        """Give as little more of this event's partition as can be, until it is released."""

    def release(self, event: Any) -> object:
        """Give more of this event's partition."""

    def forget(self, event: Any) -> object:
        """Wait for this event no longer: it will not be acknowledged."""


@dataclass(frozen=True)
class Parts:
    """What all lanes of a topic stand on."""

    source: Source
    topic: str  # its name in the contracts
    order: Order[Any]
    attempt: Attempt
    threads: Executor


class PartitionLane:
    """One partition's messages, for as long as it is ours."""

    def __init__(self, parts: Parts, continuity: Continuity | None) -> None:
        self._source = parts.source
        self._topic = parts.topic
        self._room = parts.order.room
        self._attempt = parts.attempt
        self._threads = parts.threads
        self._continuity = continuity
        self._lane = Lane(parts.order)
        self._came: deque[Any] = deque()  # and is not in the lane yet
        self._asking = False
        self._held = False
        self._forgotten = False
        self._attempts: dict[Work[Any], Callable[[], bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pauses = pauses(draw=random.random)
        self._timer: asyncio.TimerHandle | None = None

    def put(self, event: Any) -> None:
        """Take what came next."""
        self._came.append(event)
        if not self._held and len(self._came) + len(self._lane) >= self._room:
            self._held = True
            self._source.hold(event)
        if not self._asking:
            self._take_in()

    def forget(self) -> None:
        """Drop what is not being tried, for good."""
        self._forgotten = True
        if self._timer:
            self._timer.cancel()
        for event in (*self._lane.forget(), *self._came):
            self._source.forget(event)
        self._came.clear()

    def end(self) -> None:
        """Forget everything; nobody acknowledges any more."""
        self.forget()
        for task in self._tasks:
            task.cancel()

    def _take_in(self) -> None:
        """Let in what came, as far as nothing is missing before it; and have tried what may be."""
        while self._came:
            offset = self._came[0].message.offset
            if self._continuity and not self._continuity.comes_next(offset):
                self._asking = True
                self._go_on_with(self._ask(partial(self._continuity.ask, offset)))
                break
            self._lane.add(self._came.popleft())
        self._begin()

    async def _ask(self, ask: Callable[[], None]) -> None:
        await self._in_thread(ask)
        self._asking = False
        self._take_in()

    def _begin(self) -> None:
        while work := self._lane.begin():
            self._go_on_with(self._try(work))

    async def _try(self, work: Work[Any]) -> None:
        if work not in self._attempts:
            self._attempts[work] = self._attempt(
                [_message(self._topic, each.message) for each in work.messages.values()]
            )
        if await self._in_thread(self._attempts[work]):
            del self._attempts[work]
            self._done(work)
        else:
            self._lane.failed(work)
            self._try_again_later()
        if self._forgotten:
            self.forget()
        self._begin()

    def _done(self, work: Work[Any]) -> None:
        if work.was_set_aside:
            self._pauses = pauses(draw=random.random)
        for event in self._lane.done(work):
            self._source.ack(event)
        if self._forgotten:  # what came before it may not be acknowledged
            for event in work.messages.values():
                self._source.forget(event)
        elif self._held and len(self._came) + len(self._lane) <= self._room // 2:
            self._held = False
            self._source.release(next(iter(work.messages.values())))

    def _try_again_later(self) -> None:
        """Have one tried again after a while; there is always one pause at a time."""
        if self._timer is None and not self._forgotten:
            self._timer = asyncio.get_running_loop().call_later(next(self._pauses), self._retry)

    def _retry(self) -> None:
        self._timer = None
        self._lane.retry()
        self._begin()

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _go_on_with(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_or_end(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _or_end(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - see the rule
        _log.critical("a batch was not handled; ending, to read it again", exc_info=error)
        os._exit(exits.UNFORESEEN)


def _message(topic: str, faust: Any) -> Message:
    written_ms = (faust.timestamp or 0) * 1000  # without a time it is as old as can be
    return Message(topic, faust.partition, faust.offset, faust.key, faust.value, pairs(faust.headers), written_ms)
