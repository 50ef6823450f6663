"""A worker of a test's own: `python small_worker.py SERVICE TOPIC work|hang|fail`. It prints the offsets it handles."""

import sys
import threading
from dataclasses import replace

from contracts import TOPICS
from murmuration_runtime.settings import read
from murmuration_worker.messages import Batch
from murmuration_worker.settings import WorkerSettings
from murmuration_worker.worker import consume, run_worker

HANGING = 5  # the partition


def work(batch: Batch) -> None:
    for offset, event, _ in batch.arrivals:
        print(offset, event.event_id if event else "dead", flush=True)  # noqa: T201


def hang(batch: Batch) -> None:
    if batch.partition == HANGING:
        threading.Event().wait()
    work(batch)


def fail(batch: Batch) -> None:
    raise ValueError(batch.partition)


if __name__ == "__main__":
    _, service, name, does = sys.argv
    topic = replace(TOPICS["FollowChanged"], name=name)
    handle = {"work": work, "hang": hang, "fail": fail}[does]
    run_worker(service, read(WorkerSettings), [consume(topic, handle)], stores={}, repair="mend")
