"""A stream of messages in memory, and lanes that work on it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from murmuration_worker.continuity import Continuity, Places
from murmuration_worker.lane import Order
from murmuration_worker.lanes import Lanes
from murmuration_worker.partition_lane import Parts
from murmuration_worker.progress import Progress

PARTITIONS = 12


class Stream:
    """A stream of messages that are there already, and what is taken, acknowledged, held and forgotten of it."""

    def __init__(self, *places):
        """places: of each message its partition and offset, and its key if it matters."""
        self.places = places
        self.timestamp = 1.5
        self.starts = {}
        for partition, offset, *_ in places:
            self.starts.setdefault(partition, offset)
        self.skipped = set()
        self.taken = 0
        self.acked = []
        self.held = []
        self.forgotten = []
        self.when = {}
        self.lanes = self.loop = None

    async def events(self):
        for partition, offset, *key in self.places:
            if (partition, offset) in self.skipped:
                continue
            self.taken += 1
            self.when.get(("taken", self.taken), int)()
            message = {
                "topic": "T",
                "partition": partition,
                "offset": offset,
                "key": key[0] if key else None,
                "value": None,
                "headers": {},
                "timestamp": self.timestamp,
            }
            yield SimpleNamespace(message=SimpleNamespace(**message))
        await asyncio.Event().wait()

    def ack(self, event):
        self.acked.append(place(event))
        self.when.get(("acked", len(self.acked)), int)()

    def hold(self, event):
        self.held.append(("hold", event.message.partition))

    def release(self, event):
        self.held.append(("release", event.message.partition))

    def forget(self, event):
        self.forgotten.append(place(event))
        self.when.get(("forgotten", place(event)), int)()

    def clear(self):
        """Have the lanes cleared, from a thread in which something is handled."""
        self.loop.call_soon_threadsafe(self.lanes.clear)

    def continuity(self, partition):
        committed = lambda each: self.starts[each[1]]  # noqa: E731
        return Continuity(("T", partition), Places(committed, lambda _: 0, print, Progress()))


def place(event):
    return event.message.partition, event.message.offset


def attempt(handle):
    """Have a function called with the messages; if it returns False, they are tried again."""
    return lambda messages: lambda: handle(messages) is not False


def by_key(*, batch=1, at_once=4, room=100):
    return Order(lambda event: event.message.key, batch, at_once, room)


def strictly(*, batch=1, room=100):
    return Order(lambda _: None, batch, 1, room)


def run(stream, handle, *, until, order=None):
    """Let the lanes work until something has happened to the stream, or so many messages are acknowledged."""
    order = order or strictly()
    when = until if isinstance(until, tuple) else ("acked", until)

    async def work(threads):
        enough, before = asyncio.Event(), stream.when.get(when, int)
        stream.when[when] = lambda: (before(), enough.set())
        stream.lanes = Lanes(Parts(stream, "T", order, attempt(handle), threads), stream.continuity)
        stream.loop = asyncio.get_running_loop()
        agent = asyncio.create_task(stream.lanes.run())
        async with asyncio.timeout(10):
            await enough.wait()
        agent.cancel()

    with ThreadPoolExecutor((order.at_once + 1) * PARTITIONS) as threads:
        asyncio.run(work(threads))
