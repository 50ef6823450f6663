"""Stands before a store on this machine: what it answers comes later, and what names somebody it never answers."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

HOST = "127.0.0.1"
CHUNK = 65_536


@contextmanager
def slow_store(behind: int, seconds: float, never: bytes | None = None) -> Iterator[int]:
    """Stand before the store on a port for as long as the context lasts; give the port to ask instead."""
    port: Future[int] = Future()
    over, loop = asyncio.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        server = await asyncio.start_server(partial(_between, behind, seconds, never), HOST, 0)
        port.set_result(server.sockets[0].getsockname()[1])
        await over.wait()

    with asyncio.Runner(loop_factory=lambda: loop) as runner, ThreadPoolExecutor(1) as thread:
        served = thread.submit(runner.run, serve())
        try:
            yield port.result(10)
        finally:
            loop.call_soon_threadsafe(over.set)
            served.result(10)


async def _between(
    behind: int, seconds: float, never: bytes | None, client: asyncio.StreamReader, answers: asyncio.StreamWriter
) -> None:
    found, store = await asyncio.open_connection(HOST, behind)
    back = asyncio.create_task(_later(found, answers, seconds))
    try:
        while data := await client.read(CHUNK):
            if never is None or never not in data:
                store.write(data)
    except (OSError, asyncio.CancelledError):  # whoever asks is gone, or the context is over
        pass
    finally:
        back.cancel()
        store.close()
        answers.close()


async def _later(found: asyncio.StreamReader, answers: asyncio.StreamWriter, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    while data := await found.read(CHUNK):
        loop.call_later(seconds, answers.write, data)
