"""The Faust agents: each partition has a lane, and each lane handles one message after the other, then acknowledges it.

Rule: only what was handled is acknowledged, in order, by hand. And nothing but the end of the process comes out of a
lane: a lane that ended in an exception would be silence.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import faust

from fanout_worker.inbox import Message

WAITING = 200  # messages of a topic taken from Kafka and not yet acknowledged; a SIGTERM and a rebalance wait for them
THREADS = 8
EXIT_UNAPPLIED = 70
_log = logging.getLogger(__name__)


def consume(app: faust.App, topic: str, handle: Callable[[Message], None]) -> None:
    """Hand the topic's messages to the handler, one of a partition at a time, in order."""
    channel = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix=topic)

    @app.agent(channel, concurrency=1, name=topic)
    async def agent(stream: Any) -> None:
        room = asyncio.Semaphore(WAITING)
        lanes: dict[int, asyncio.Queue[Any]] = {}
        tasks: set[asyncio.Task[None]] = set()

        async def lane(waiting: asyncio.Queue[Any]) -> None:
            run = asyncio.get_running_loop().run_in_executor
            while True:
                event = await waiting.get()
                try:
                    await run(threads, handle, event.message)
                except Exception as error:  # noqa: BLE001 - see the rule
                    _log.critical("a message was not handled; ending, to read it again", exc_info=error)
                    os._exit(EXIT_UNAPPLIED)
                await stream.ack(event)
                room.release()

        try:
            async for event in stream.noack().events():
                await room.acquire()
                partition = event.message.partition
                if partition not in lanes:
                    lanes[partition] = asyncio.Queue()
                    tasks.add(asyncio.create_task(lane(lanes[partition])))
                lanes[partition].put_nowait(event)
        finally:
            for task in tasks:
                task.cancel()
