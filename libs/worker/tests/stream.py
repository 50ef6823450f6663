"""A stream of messages in memory, and lanes that work on it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from murmuration_worker.lanes import THREADS, Lanes

IN_HAND = 200


class Stream:
    """A stream of messages that are there already, and what is taken and acknowledged of it."""

    def __init__(self, *places):
        self.places = places
        self.timestamp = 1.5
        self.taken = 0
        self.acked = []
        self.when = {}

    def noack(self):
        return self

    async def events(self):
        for partition, offset in self.places:
            self.taken += 1
            self.when.get(("taken", self.taken), int)()
            message = {
                "topic": "T",
                "partition": partition,
                "offset": offset,
                "key": None,
                "value": None,
                "headers": {},
                "timestamp": self.timestamp,
            }
            yield SimpleNamespace(message=SimpleNamespace(**message))
        await asyncio.Event().wait()

    async def ack(self, event):
        self.acked.append((event.message.partition, event.message.offset))
        self.when.get(("acked", len(self.acked)), int)()


def run(stream, handle, *, until, batch=1):
    """Let the lanes work until this many messages are acknowledged."""

    async def work(threads):
        enough = asyncio.Event()
        stream.when["acked", until] = enough.set
        agent = asyncio.create_task(Lanes(stream, "T", handle, threads, batch).run(IN_HAND))
        async with asyncio.timeout(10):
            await enough.wait()
        agent.cancel()

    with ThreadPoolExecutor(THREADS) as threads:
        asyncio.run(work(threads))
