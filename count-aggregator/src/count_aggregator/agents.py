"""The Faust agent: each partition has a lane, and each lane counts what has come while it was busy, then acknowledges.

Rule: only what was applied is acknowledged, in order, by hand. And nothing but the end of the process comes out of a
lane: a lane that ended in an exception would be silence.

No batch waits for company: a single event goes at once, and what comes meanwhile is the next batch. So batches are
small when there is time, and fill transactions when there is none.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import faust

from count_aggregator.inbox import Message

BATCH = 500  # events that a lane takes at once: several full transactions
WAITING = 4_000  # events taken from Kafka and not yet acknowledged; a SIGTERM and a rebalance wait for them
THREADS = 8
EXIT_UNAPPLIED = 70
_log = logging.getLogger(__name__)

Handler = Callable[[int, Sequence[Message]], None]


def consume(app: faust.App, topic: str, handle: Handler, busy: Callable[[], AbstractContextManager[None]]) -> None:
    """Hand the topic's messages to the handler, one call a partition at a time, in order."""
    channel = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix=topic)

    @app.agent(channel, concurrency=1, name=topic)
    async def agent(stream: Any) -> None:
        room = asyncio.Semaphore(WAITING)
        lanes: dict[int, asyncio.Queue[Any]] = {}
        tasks: set[asyncio.Task[None]] = set()

        async def lane(partition: int, waiting: asyncio.Queue[Any]) -> None:
            run = asyncio.get_running_loop().run_in_executor
            while True:
                batch = await next_batch(waiting)
                try:
                    with busy():
                        await run(threads, handle, partition, [event.message for event in batch])
                except Exception as error:  # noqa: BLE001 - see the rule
                    _log.critical("a batch was not applied; ending, to read it again", exc_info=error)
                    os._exit(EXIT_UNAPPLIED)
                for event in batch:
                    await stream.ack(event)
                    room.release()

        try:
            async for event in stream.noack().events():
                await room.acquire()
                partition = event.message.partition
                if partition not in lanes:
                    lanes[partition] = asyncio.Queue()
                    tasks.add(asyncio.create_task(lane(partition, lanes[partition])))
                lanes[partition].put_nowait(event)
        finally:
            for task in tasks:
                task.cancel()


async def next_batch(waiting: asyncio.Queue[Any]) -> list[Any]:
    """Wait for one event, and take what has come with it."""
    batch = [await waiting.get()]
    while len(batch) < BATCH and not waiting.empty():
        batch.append(waiting.get_nowait())
    return batch
