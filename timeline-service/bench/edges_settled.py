"""What fanout-worker says of edges, for benches that run without one: they are settled, so that pages rest on Redis."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.writer import TimelineWriter, connect

EVERY_S = 0.5


@contextmanager
def settled(url: str = "") -> Iterator[None]:
    """Say for as long as the context lasts that edges are settled until now; while Redis is away, nothing."""
    over = threading.Event()
    with closing(connect(url or os.environ["REDIS_URL"])) as nodes:
        writer = TimelineWriter(nodes)

        def say() -> None:
            while not over.wait(EVERY_S):
                with suppress(RedisAwayError):
                    writer.settle(dict.fromkeys(PARTITIONS, time.time_ns() // 1_000_000))

        thread = threading.Thread(target=say)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
