"""How long until a follow counts and a tweet shows, under the nominal load; and under tweets to many followers."""

import random
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, NamedTuple, Self

from murmuration_testkit.people import Person, RefusedError

SECONDS = 60
A_SECOND = 20
AUTHORS = 40
FANS = 5
LONGEST_WAIT = 30.0
POLL = 0.05
MANY_A_SECOND = 50
MANY_AUTHORS = 20
MANY_FANS = 200


def freshness() -> list[dict[str, Any]]:
    """Follow and tweet at 20/s each for 60 s; poll over HTTP until each is visible."""
    authors = [Person(f"Author {n}").join() for n in range(AUTHORS)]
    readers = [Person(f"Reader {n}").join() for n in range(FANS)]
    readers[0].timeline()  # a Redis that is new is trusted after ten seconds: long before the load begins
    for author in authors:
        for reader in readers:
            reader.follow(author)
    stars = [Person(f"Star {n}").join() for n in range(SECONDS * A_SECOND)]
    for reader in readers:
        _until(lambda: reader.counts()[1] == AUTHORS)  # noqa: B023 - called at once
        reader.timeline()
    with _Watch(readers) as watched:
        follows, tweets = _load(
            A_SECOND,
            lambda n: _follow(readers[n % FANS], stars[n]),
            lambda n: _tweet(random.choice(authors), watched, n % FANS),
        )
    load = f"{A_SECOND} follows/s and {A_SECOND} tweets/s"
    return [
        *_figures("follow → count visible", follows, load),
        *_figures("tweet → in a follower's timeline", tweets, load),
    ]


def many_followers() -> list[dict[str, Any]]:
    """Tweet at 50/s to 200 followers each, who all have read before; watch some of these."""
    authors = [Person(f"Author {n}").join() for n in range(MANY_AUTHORS)]
    readers = [Person(f"Reader {n}").join() for n in range(MANY_FANS)]
    readers[0].timeline()

    def settle(reader: Person) -> None:
        for author in authors:
            reader.follow(author)
        _until(lambda: reader.counts()[1] == MANY_AUTHORS)
        reader.timeline()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(settle, readers))
    with _Watch(readers[:FANS]) as watched:
        (tweets,) = _load(MANY_A_SECOND, lambda n: _tweet(random.choice(authors), watched, n % FANS))
    load = f"{MANY_A_SECOND} tweets/s to {MANY_FANS} followers each, each watched in one of {FANS} timelines"
    return _figures(f"tweet to {MANY_FANS} followers → one of them", tweets, load)


def _load(a_second: int, *writes: Callable[[int], "Seen"]) -> "list[list[Seen]]":
    """Do all these writes so often a second; return of each what became of them."""
    with ThreadPoolExecutor(a_second * 4) as threads:
        jobs: list[list[Future[Seen]]] = [[] for _ in writes]
        began = time.monotonic()
        for n in range(SECONDS * a_second):
            if n % (10 * a_second) == 0:
                print(f"    {n // a_second} of {SECONDS} s", flush=True)
            time.sleep(max(0, began + n / a_second - time.monotonic()))
            for write, its in zip(writes, jobs, strict=True):
                its.append(threads.submit(write, n))
        seen = [[job.result() for job in its] for its in jobs]
    took = max(one.answered for its in seen for one in its) - began
    if took > SECONDS * 1.05:
        raise RuntimeError(f"the load of {SECONDS} s took {took:.0f} s: this machine is too slow to be measured at it")
    print(f"    {SECONDS * a_second} of each kind answered in {took:.1f} s")
    return seen


def _figures(name: str, seen: "list[Seen]", load: str) -> list[dict[str, Any]]:
    lags = [one.lag for one in seen]
    cuts = statistics.quantiles(lags, n=100)
    setup = f"{load}, for {SECONDS} s; each polled over HTTP every {POLL * 1000:.0f} ms; from sending the write"
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _read(self, reader: Person, seen: dict[str, float]) -> None:
        while not self._over.wait(POLL):
            try:
                tweets = reader.ask("GET", "/v1/timeline?limit=200")["tweets"]
            except RefusedError as error:
                if error.status != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                continue  # a rebuild may be told to wait
            now = time.monotonic()
            with self._changed:
                for tweet in tweets:
                    seen.setdefault(tweet["tweet_id"], now)
                self._changed.notify_all()


BENCHMARKS = [freshness, many_followers]
