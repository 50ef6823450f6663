"""The Faust agents: take a batch, hand each partition its part, acknowledge.

Rule: nothing leaves the body but the end of the process. Faust acknowledges a batch even when its body failed or was
cancelled, so whatever is not applied must not come back here as an exception.
"""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import faust

from fanout_worker.inbox import Message

BATCH = 400
WITHIN = 0.05
EXIT_UNAPPLIED = 70
_log = logging.getLogger(__name__)

Handler = Callable[[int, Sequence[Message]], None]


def consume(app: faust.App, topic: str, handle: Handler, busy: Callable[[], AbstractContextManager[None]]) -> None:
    """Hand the topic's messages to the handler, one call a partition at a time, in order."""
    channel = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    threads = ThreadPoolExecutor(8, thread_name_prefix=topic)

    @app.agent(channel, concurrency=1, name=topic)
    async def agent(stream: Any) -> None:
        async for batch in stream.take_events(BATCH, within=WITHIN):
            try:
                with busy():
                    run = asyncio.get_running_loop().run_in_executor
                    parts = by_partition([event.message for event in batch])
                    await asyncio.gather(*(run(threads, handle, *part) for part in parts.items()))
            except BaseException as error:  # noqa: BLE001 - see the rule
                _log.critical("a batch was not applied; ending, to read it again", exc_info=error)
                os._exit(EXIT_UNAPPLIED)


def by_partition(messages: Sequence[Message]) -> dict[int, list[Message]]:
    """Split a batch, keeping each partition's order."""
    parts: dict[int, list[Message]] = defaultdict(list)
    for message in messages:
        parts[message.partition].append(message)
    return parts
