"""A worker of a test's own: `python small_worker.py SERVICE EVENT TOPIC "DOES by key"`. It prints what it handles."""

import sys
import threading
from dataclasses import replace
from functools import partial

from contracts import TOPICS, Tombstone
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.settings import read
from murmuration_worker.messages import Batch
from murmuration_worker.settings import WorkerSettings
from murmuration_worker.worker import consume, run_worker

HANGING = 5  # the partition


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")  # at once, as other threads do
    sys.stdout.flush()


def work(batch: Batch) -> None:
    for offset, event, _ in batch.arrivals:
        gone = " is gone" if isinstance(event, Tombstone) else ""
        tell(f"{offset} {event.event_id}{gone}" if event else f"{offset} dead")


def hang(batch: Batch) -> None:
    if batch.partition == HANGING and batch.arrivals[0].offset == 0:
        threading.Event().wait()
    work(batch)


def hold_first(batch: Batch) -> None:
    """Until a line comes in."""
    if batch.partition == HANGING and batch.arrivals[0].offset == 0:
        sys.stdin.readline()
    work(batch)


def fail(batch: Batch) -> None:
    raise ValueError(batch.partition)


def wait(batch: Batch) -> None:
    tell(f"tried {batch.arrivals[0].offset}")
    raise StoreAwayError("away for good")


if __name__ == "__main__":
    _, service, event, name, does = sys.argv
    topic = replace(TOPICS[event], name=name)
    handle = {"work": work, "hang": hang, "hold": hold_first, "fail": fail, "wait": wait}[does.split()[0]]
    consumption = consume(topic, handle, by_key=does.endswith("by key"), room=20)
    rebuild = partial(tell, "rebuilt")
    run_worker(service, read(WorkerSettings), [consumption], stores={}, repair="mend", rebuild=rebuild)
