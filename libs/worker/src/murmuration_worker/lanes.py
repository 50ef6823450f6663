"""A lane for each partition: it handles what has come while it was busy, then acknowledges that, in order.

Rule: only what was handled is acknowledged, in order, by hand. An exception in a lane ends the
process: else its partition would stand still unnoticed.

No batch waits for company: a single message goes at once, and what comes meanwhile is the next batch. So batches are
small when there is time, and fill when there is none.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from murmuration_worker import exits
from murmuration_worker.messages import Message, pairs

THREADS = 8  # lanes of a topic that are at work at once
_log = logging.getLogger(__name__)


class Lanes:
    """One topic's lanes, within one run of a Faust agent."""

    def __init__(
        self,
        stream: Any,
        topic: str,
        handle: Callable[[Sequence[Message]], object],
        threads: ThreadPoolExecutor,
        batch: int,
    ) -> None:
        """topic: its name in the contracts; batch: how many messages the handler gets in one call, at most."""
        self._stream = stream
        self._topic = topic
        self._handle = handle
        self._threads = threads
        self._batch = batch
        self._waiting: dict[int, asyncio.Queue[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, in_hand: int) -> None:
        """Hand over what comes; take no more from Kafka while so many messages are not acknowledged."""
        room = asyncio.Semaphore(in_hand)
        try:
            async for event in self._stream.noack().events():
                await room.acquire()
                self._lane(event.message.partition, room).put_nowait(event)
        finally:
            for task in self._tasks:
                task.cancel()

    def _lane(self, partition: int, room: asyncio.Semaphore) -> "asyncio.Queue[Any]":
        if partition not in self._waiting:
            self._waiting[partition] = asyncio.Queue()
            self._tasks.add(asyncio.create_task(self._work(self._waiting[partition], room)))
        return self._waiting[partition]

    async def _work(self, waiting: "asyncio.Queue[Any]", room: asyncio.Semaphore) -> None:
        run = asyncio.get_running_loop().run_in_executor
        try:
            while True:
                events = await next_batch(waiting, self._batch)
                await run(self._threads, self._handle, [_message(self._topic, event.message) for event in events])
                for event in events:
                    await self._stream.ack(event)
                    room.release()
        except Exception as error:  # noqa: BLE001 - see the rule
            _log.critical("a batch was not handled; ending, to read it again", exc_info=error)
            os._exit(exits.UNFORESEEN)


async def next_batch(waiting: "asyncio.Queue[Any]", most: int) -> list[Any]:
    """Wait for one event, and take what has come with it."""
    batch = [await waiting.get()]
    while len(batch) < most and not waiting.empty():
        batch.append(waiting.get_nowait())
    return batch


def _message(topic: str, faust: Any) -> Message:
    written_ms = (faust.timestamp or 0) * 1000  # without a time it is as old as can be
    return Message(topic, faust.partition, faust.offset, faust.key, faust.value, pairs(faust.headers), written_ms)
