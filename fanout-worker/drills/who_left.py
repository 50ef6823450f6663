"""Fan-out stopped, killed and late, and the bridge stopped: nobody who left is seen for longer than five seconds.

Readers ask all the time, and each leaves an author every second or two: by an unfollow, by a mute, or because the
author blocks them. Counted is what a page shows that was asked for more than five seconds after the answer to that.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.processes import all_ready, caught_up, kill, pause, resume, stopped
from murmuration_testkit.waiting import eventually

READERS = 4
AUTHORS = 24  # of each reader, each with one tweet: less than a page
LIMIT_S = 5.0
DURING_S = 30.0
PAUSE_S = 0.1
BETWEEN = (0.5, 1.5)  # seconds from one leaving to the next
KILLED_EVERY_S = 3.0


@dataclass
class Reader:
    """Somebody who leaves one after the other, and looks whether they are gone."""

    me: Person
    authors: list[Person]
    left: dict[str, tuple[str, float]] = field(default_factory=dict)  # how, and when it was answered
    shown: list[tuple[float, str, str]] = field(default_factory=list)  # for how long after that, how, and whom
    pages: list[float] = field(default_factory=list)  # what each took, in seconds
    missed: list[str] = field(default_factory=list)
    refused: int = 0
    leaving: set[str] = field(default_factory=set)  # a page may know before the answer is here

    def leave(self) -> None:
        """Leave the next of the authors, or be left by them."""
        author = self.authors[len(self.left)]
        self.leaving.add(author.user_id)
        how = random.choice(("unfollowed", "muted", "blocked by"))
        match how:
            case "unfollowed":
                self.me.insist("DELETE", f"/v1/users/{author.user_id}/follow")
            case "muted":
                self.me.insist("PUT", f"/v1/users/{author.user_id}/mute")
            case _:
                author.insist("PUT", f"/v1/users/{self.me.user_id}/block")
        self.left[author.user_id] = how, time.monotonic()

    def look(self) -> None:
        """Read a page: who left must not be there, and all others must."""
        left, began = dict(self.left), time.monotonic()
        try:
            answer = self.me.ask("GET", "/v1/timeline?limit=100")
        except RefusedError:
            self.refused += 1
            return
        self.pages.append(time.monotonic() - began)
        seen = {tweet["author_id"] for tweet in answer["tweets"]}
        self.shown += [(began - at, how, who) for who, (how, at) in left.items() if who in seen]
        stay = {author.user_id for author in self.authors} - self.leaving
        self.missed += sorted(stay - seen)


def _during(fault: str, broken: Callable[[], Any]) -> dict[str, Any]:
    """Have readers leave and look while something is broken, and until all is well again."""
    people = [Reader(Person("Reader").join(), _authors()) for _ in range(READERS)]
    for each in people:
        for author in each.authors:
            each.me.insist("POST", f"/v1/users/{author.user_id}/follow")
    caught_up("fanout-worker")
    for each in people:
        eventually(lambda each=each: _reads_all(each), True)  # type: ignore[misc]
        each.pages.clear()
        each.missed.clear()
    over = threading.Event()
    with ThreadPoolExecutor(2 * READERS) as threads:
        try:
            with broken():
                loops = [threads.submit(_go_on, over, work, gap) for each in people for work, gap in _work(each)]
                over.wait(DURING_S)
                kept = [seconds for each in people for seconds in each.pages]
            over.wait(LIMIT_S)
        finally:
            over.set()
        for loop in loops:
            loop.result()
    all_ready()
    shown = [each for reader in people for each in reader.shown]
    ways = Counter(how for reader in people for how, _ in reader.left.values())
    longest = max((seconds for seconds, _, _ in shown), default=0.0)
    late = [f"{who} was {how} and still shown {s:.1f} s later" for s, how, who in sorted(shown) if s > LIMIT_S]
    return {
        "name": f"who left is not seen: {fault}",
        "faults": f"{fault}; " + ", ".join(f"{count} x {how}" for how, count in sorted(ways.items())),
        "compared": f"{sum(len(reader.pages) for reader in people)} pages with who had left {LIMIT_S:.0f} s before, "
        "and with who had not",
        "differences": late + [f"{who} was missing" for reader in people for who in reader.missed],
        "counts": f"nobody was shown longer than {longest:.1f} s; a page took {1000 * median(kept):.0f} ms in the "
        f"median, {1000 * sorted(kept)[int(len(kept) * 0.99)]:.0f} ms at the 99th percentile; "
        f"{sum(reader.refused for reader in people)} were refused",
    }


def _authors() -> list[Person]:
    authors = [Person("Author").join() for _ in range(AUTHORS)]
    for author in authors:
        author.insist("POST", "/v1/tweets", json={"text": "said before"}, headers={"Idempotency-Key": author.user_id})
    return authors


def _reads_all(reader: Reader) -> bool:
    reader.missed.clear()
    reader.pages.clear()
    reader.look()
    return bool(reader.pages) and not reader.missed


def _work(reader: Reader) -> Iterator[tuple[Callable[[], None], Callable[[], float]]]:
    yield reader.look, lambda: PAUSE_S
    yield partial(_leave_unless_alone, reader), lambda: random.uniform(*BETWEEN)


def _leave_unless_alone(reader: Reader) -> None:
    if len(reader.left) < AUTHORS - 1:
        reader.leave()


def _go_on(over: threading.Event, work: Callable[[], None], gap: Callable[[], float]) -> None:
    while not over.wait(gap()):
        work()


@contextmanager
def _killed_again_and_again() -> Iterator[None]:
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(KILLED_EVERY_S):
            kill("fanout-worker")

    with ThreadPoolExecutor(1) as thread:
        killing = thread.submit(go_on)
        try:
            yield
        finally:
            over.set()
        killing.result()


@contextmanager
def _paused() -> Iterator[None]:
    pause("fanout-worker")
    try:
        yield
    finally:
        resume("fanout-worker")


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


DRILLS = [
    partial(_during, "nothing is broken", _as_it_is),
    partial(_during, "fanout-worker is stopped", partial(stopped, "fanout-worker")),
    partial(_during, "fanout-worker is killed every 3 s", _killed_again_and_again),
    partial(_during, f"fanout-worker is {DURING_S:.0f} s behind", _paused),
    partial(_during, "the bridge is stopped", partial(stopped, "cdc-bridge")),
]
