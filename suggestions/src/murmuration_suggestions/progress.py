"""How far Spark is with the step at hand, a line now and then."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

EVERY_S = 5.0


@contextmanager
def progress(tracker: Any, step: str) -> Iterator[None]:
    """Say meanwhile how many of a step's tasks are done."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(EVERY_S):
            for job in tracker.getJobIdsForGroup(step):
                for stage in getattr(tracker.getJobInfo(job), "stageIds", ()):
                    if (info := tracker.getStageInfo(stage)) and info.numActiveTasks:
                        say(f"{step}: {info.numCompletedTasks} of {info.numTasks} tasks are done")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def say(line: str) -> None:
    """Tell whoever looks on."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
