"""Kill -9, end and pause services and stores under load; then counts must equal rows, and timelines the truth."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from murmuration_testkit.crowd import NOT_ANSWERED, Crowd
from murmuration_testkit.faults import some_faults, told
from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.processes import all_ready
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import remaining

PEOPLE = 24
WRITERS = 6
FAULTS = 30
BETWEEN = (0.5, 2.5)  # seconds from one fault to the next
TARGETS = (*PROCESSES, "kafka", "dynamodb", "redis", "limits-redis", "suggestions-redis", "graph-redis", "registry")
SETTLED = 120.0


class Load:
    """A crowd that repeats what was not answered until it is; a tweet is sent once only."""

    def __init__(self) -> None:
        self.crowd = Crowd(PEOPLE, _stubborn)
        self.writes = 0
        self._over = threading.Event()

    def run(self, threads: ThreadPoolExecutor) -> list[Any]:
        """Begin; each writer has people of its own."""
        return [threads.submit(self._write, self.crowd.people[n::WRITERS]) for n in range(WRITERS)]

    def stop(self) -> None:
        """Let each writer finish what it is doing."""
        self._over.set()

    def _write(self, mine: list[Person]) -> None:
        crowd = self.crowd
        acts = [crowd.follow, crowd.follow, crowd.unfollow, crowd.delete, crowd.read, crowd.tweet]
        while not self._over.wait(0.02):
            try:
                random.choice(acts)(random.choice(mine))
            except NOT_ANSWERED as error:
                if isinstance(error, RefusedError) and error.status < 500:
                    raise
            self.writes += 1


def _stubborn(me: Person, method: str, path: str, **more: Any) -> Any:
    """Insist on all but a tweet: it is sent once, without its key, and whether it is there its row will tell."""
    return me.ask(method, path, json=more["json"]) if more else me.insist(method, path)


def kills() -> dict[str, Any]:
    """Break something every second or two while people go on, let the dust settle, and compare."""
    load = Load()
    with ThreadPoolExecutor(WRITERS) as threads:
        writers = load.run(threads)
        done = some_faults(FAULTS, BETWEEN, TARGETS)
        load.stop()
        for writer in writers:
            writer.result()
    print("    settling", flush=True)
    all_ready(within=SETTLED)
    differences = remaining(load.crowd.differences, within=SETTLED, every=2)
    return {
        "name": f"{FAULTS} random faults under load",
        "faults": told(done, TARGETS),
        "compared": "each person's counts with the rows, and their whole timeline with what those they follow said",
        "differences": differences,
        "counts": f"{load.writes} requests of {PEOPLE} people, {len(load.crowd.unanswered)} tweets not answered, "
        f"{sum(map(len, load.crowd.tweets.values()))} tweets left",
    }


DRILLS = [kills]
