"""A stream of messages in memory, and an agent that works on it."""

import asyncio
from types import SimpleNamespace

from fanout_worker.agents import consume


class Stream:
    """A stream of messages that are there already, and what is taken and acknowledged of it."""

    def __init__(self, *places):
        self.places = places
        self.taken = 0
        self.acked = []
        self.when = {}

    def topic(self, *_, **__):
        return None

    def agent(self, *_, **__):
        return lambda body: setattr(self, "body", body)

    def noack(self):
        return self

    async def events(self):
        for partition, offset in self.places:
            self.taken += 1
            self.when.get(("taken", self.taken), int)()
            yield SimpleNamespace(message=SimpleNamespace(partition=partition, offset=offset))
        await asyncio.Event().wait()

    async def ack(self, event):
        self.acked.append((event.message.partition, event.message.offset))
        self.when.get(("acked", len(self.acked)), int)()


def run(stream, handle, *, until):
    """Let the agent work until this many are acknowledged."""

    async def work():
        enough = asyncio.Event()
        stream.when["acked", until] = enough.set
        consume(stream, "topic", handle)
        agent = asyncio.create_task(stream.body(stream))
        async with asyncio.timeout(10):
            await enough.wait()
        agent.cancel()

    asyncio.run(work())
