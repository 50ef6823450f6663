"""How long until a follow counts and a tweet shows, under the nominal load."""

import random
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from people import Person

SECONDS = 60
A_SECOND = 20
AUTHORS = 40
FANS = 5
LONGEST_WAIT = 30.0
POLL = 0.05


def freshness() -> list[dict[str, Any]]:
    """Follow and tweet at 20/s each for 60 s; poll over HTTP until each is visible."""
    authors = [Person(f"Author {n}").join() for n in range(AUTHORS)]
    readers = [Person(f"Reader {n}").join() for n in range(FANS)]
    for author in authors:
        for reader in readers:
            reader.follow(author)
    stars = [Person(f"Star {n}").join() for n in range(SECONDS * A_SECOND)]
    for reader in readers:
        _until(lambda: reader.counts()[1] == AUTHORS)  # noqa: B023 - called at once
        reader.timeline()
    watched = _Watch(readers)
    follows, tweets = [], []
    with ThreadPoolExecutor(64) as threads:
        began = time.monotonic()
        for n in range(SECONDS * A_SECOND):
            if n % (10 * A_SECOND) == 0:
                print(f"    {n // A_SECOND} of {SECONDS} s", flush=True)
            time.sleep(max(0, began + n / A_SECOND - time.monotonic()))
            follows.append(threads.submit(_follow, readers[n % FANS], stars[n]))
            tweets.append(threads.submit(_tweet, random.choice(authors), watched, n % FANS))
        seen = [[job.result() for job in jobs] for jobs in (follows, tweets)]
    watched.end()
    took = max(one.answered for jobs in seen for one in jobs) - began
    if took > SECONDS * 1.05:
        raise RuntimeError(f"the load of {SECONDS} s took {took:.0f} s: this machine is too slow to be measured at it")
    load = f"{len(follows) / took:.1f} follows/s and {len(tweets) / took:.1f} tweets/s answered over {took:.0f} s"
    setup = f"{load}; each polled over HTTP every {POLL * 1000:.0f} ms; the time is from sending the write"
    return [
        figure
        for name, jobs in zip(("follow → count visible", "tweet → in a follower's timeline"), seen, strict=True)
        for figure in _figures(name, [one.lag for one in jobs], setup)
    ]


def _figures(name: str, lags: list[float], setup: str) -> list[dict[str, Any]]:
    cuts = statistics.quantiles(lags, n=100)
    common = {"unit": "s", "reference": None, "ratio": None, "target": None, "setup": setup}
    return [
        {"name": f"freshness: {name}, p50", "ours": cuts[49], **common},
        {"name": f"freshness: {name}, p99", "ours": cuts[98], **common, "at_most": 2},
        {"name": f"freshness: {name}, max", "ours": max(lags), **common},
    ]


class Seen(NamedTuple):
    """When a write was answered, and how long it took from sending it until others saw it."""

    answered: float
    lag: float


def _follow(reader: Person, star: Person) -> Seen:
    began = time.monotonic()
    reader.follow(star)
    answered = time.monotonic()
    return Seen(answered, _until(lambda: star.counts()[0] == 1) - began)


def _tweet(author: Person, watched: "_Watch", reader: int) -> Seen:
    began = time.monotonic()
    tweet_id = author.tweet("hello, world")
    answered = time.monotonic()
    return Seen(answered, watched.seen(reader, tweet_id) - began)


def _until(visible: Callable[[], bool]) -> float:
    """Return the moment when it was visible."""
    began = time.monotonic()
    while not visible():
        if time.monotonic() - began > LONGEST_WAIT:
            raise TimeoutError(f"not visible after {LONGEST_WAIT} s")
        time.sleep(POLL)
    return time.monotonic()


class _Watch:
    """Reads each reader's timeline over and over, and tells when a tweet was there first."""

    def __init__(self, readers: list[Person]) -> None:
        self._seen: list[dict[str, float]] = [{} for _ in readers]
        self._over = threading.Event()
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read, args=(reader, seen), daemon=True)
            for reader, seen in zip(readers, self._seen, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def seen(self, reader: int, tweet_id: str) -> float:
        """Wait until the reader sees the tweet; return when that was."""
        with self._changed:
            if not self._changed.wait_for(lambda: tweet_id in self._seen[reader], LONGEST_WAIT):
                raise TimeoutError(f"tweet {tweet_id} not visible after {LONGEST_WAIT} s")
            return self._seen[reader][tweet_id]

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _read(self, reader: Person, seen: dict[str, float]) -> None:
        while not self._over.wait(POLL):
            tweets = reader.ask("GET", "/v1/timeline?limit=100")["tweets"]
            now = time.monotonic()
            with self._changed:
                for tweet in tweets:
                    seen.setdefault(tweet["tweet_id"], now)
                self._changed.notify_all()


BENCHMARKS = [freshness]
