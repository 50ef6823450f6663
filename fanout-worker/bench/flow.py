"""What a partition, an account or a tweet that takes long costs everybody else."""

import os
import random
import statistics
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import boto3

from murmuration_runtime.redis_nodes import Nodes
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.rows import put_all
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import connect

from .live_worker import TWEETS, Live, follow, forget, live_worker, publish, tweet
from .slow_store import HOST, slow_store
from .whole_way import FIRST, fans, fill, remove, room

ROUNDS = 3
AUTHORS, FANS = 40, 5
SILENT = "nobody-answers"
HELD, OTHERS = 3_000, int(os.environ.get("OTHERS", "10000"))
STORES_S = (0.005, 0.015)
A_SECOND, AT_ONCE, VIRAL_S, SAID = 200, 20, int(os.environ.get("VIRAL_SECONDS", "30")), 800
LARGE, TWEETS_A_SECOND, LARGE_S = int(os.environ.get("LARGE", "100000")), 20, int(os.environ.get("LARGE_SECONDS", "60"))
PATIENCE_S = 120.0


def held_up() -> dict[str, Any]:
    """Deliver tweets of eleven partitions with and without a twelfth whose author's followers nobody can read."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    with _tables() as tables, slow_store(tables.port, 0, never=SILENT.encode()) as port:
        authors = [tables.author(FANS) for _ in range(AUTHORS)]
        for held in [False, True] * ROUNDS:
            forget()
            publish(*(tweet(SILENT, [0]) for _ in range(HELD * held)))
            publish(*(tweet(random.choice(authors), range(1, TWEETS.partitions)) for _ in range(OTHERS)))
            with live_worker(AWS_ENDPOINT_URL_DYNAMODB=f"http://{HOST}:{port}") as worker:
                rates[held].append(_rate(worker))
    before, meanwhile = (statistics.median(rates[held]) for held in (False, True))
    return {
        "name": "flow: others, while a partition is held up",
        "ours": meanwhile,
        "reference": before,
        "unit": "tweets/s",
        "ratio": meanwhile / before,
        "target": 0.9,
        "setup": f"{OTHERS:,} tweets to {FANS} each in eleven partitions; in the twelfth {HELD:,} of an author "
        f"whose followers DynamoDB never tells; reference: without these; medians of {ROUNDS} turns",
    }


def viral() -> list[dict[str, Any]]:
    """Have an account followed by many who read, over stores that take their time."""
    with _tables() as tables, room(tables.redis):
        return [_viral(tables, seconds) for seconds in STORES_S]


def large() -> dict[str, Any]:
    """Fan one tweet after the other out to very many, and watch everybody else's."""
    with _tables() as tables, room(tables.redis), ThreadPoolExecutor(64) as threads:
        authors, star, over = [tables.author(FANS) for _ in range(AUTHORS)], tables.author(LARGE), threading.Event()
        forget()

        def say(author: str, followers: int) -> float:
            said, began = tweet(author), time.monotonic()
            publish(said)
            *_, last = sorted(fans(author, followers))  # as the table has them
            key = layout.home_timeline(last)
            eventually(lambda: tables.redis.lpos(key, said.tweet_id) is not None, within=PATIENCE_S, every=0.02)
            return time.monotonic() - began

        def say_to_many() -> list[float]:
            lags = []
            while not over.is_set():
                lags.append(say(star, LARGE))
            return lags

        endpoint = f"http://{HOST}:{tables.port}"
        with live_worker(AWS_ENDPOINT_URL_DYNAMODB=endpoint, CELEBRITY_THRESHOLD=str(LARGE + 1)):
            say(authors[0], FANS)
            many, jobs = threads.submit(say_to_many), []
            _evenly(TWEETS_A_SECOND, LARGE_S, lambda: jobs.append(threads.submit(say, random.choice(authors), FANS)))
            lags = [job.result() for job in jobs]
            over.set()
            took = many.result()
        remove(tables.redis, star, LARGE)
    return {
        "name": f"flow: others, while tweets go to {LARGE:,}, p99",
        "ours": statistics.quantiles(lags, n=100)[98],
        "unit": "s",
        "reference": None,
        "ratio": None,
        "target": None,
        "at_most": 2,
        "setup": f"{TWEETS_A_SECOND} tweets/s to {FANS} followers each for {LARGE_S} s; from publishing to the last; "
        f"meanwhile {len(took)} to {LARGE:,} each, one after the other, {statistics.median(took):.1f} s each",
    }


def _viral(tables: "_Tables", seconds: float) -> dict[str, Any]:
    count = A_SECOND * VIRAL_S
    star, longest = tables.author(count), 0.0
    tables.has_said(star, SAID)
    tables.has_read(fans(star, count))
    forget()
    with slow_store(tables.port, seconds) as dynamodb, slow_store(int(os.environ["REDIS_PORT"]), seconds) as redis:
        places = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://{HOST}:{dynamodb}", "REDIS_URL": f"redis://{HOST}:{redis}/0"}
        with live_worker(**places) as worker:
            followers, published = fans(star, count), 0

            def some() -> None:
                nonlocal published, longest
                publish(*(follow(each, star) for each in islice(followers, AT_ONCE)))
                published += AT_ONCE
                longest = max(longest, (published - worker.delivered("FollowChanged")) / A_SECOND)

            _evenly(A_SECOND // AT_ONCE, VIRAL_S, some)
            eventually(lambda: worker.delivered("FollowChanged"), count, within=PATIENCE_S)
        tables.must_show(star, fans(star, count))
    remove(tables.redis, star, count)
    return {
        "name": f"flow: an account goes viral, stores of {seconds * 1000:.0f} ms",
        "ours": longest,
        "unit": "s",
        "reference": None,
        "ratio": None,
        "target": None,
        "at_most": 2,
        "setup": f"{A_SECOND} follows/s of an account of {SAID} tweets, by {count:,} readers with full lists; what was "
        "not done at the worst moment, in seconds of these follows",
    }


def _rate(worker: Live) -> float:
    """Wait until all others are delivered; return how many a second, from a tenth of them on."""
    eventually(lambda: worker.delivered("TweetCreated") >= OTHERS / 10, within=PATIENCE_S)
    began, before = time.monotonic(), worker.delivered("TweetCreated")
    eventually(lambda: worker.delivered("TweetCreated") >= OTHERS, within=PATIENCE_S)
    return (OTHERS - before) / (time.monotonic() - began)


def _evenly(a_second: int, seconds: int, work: Callable[[], object]) -> None:
    began = time.monotonic()
    for n in range(a_second * seconds):
        time.sleep(max(0.0, began + n / a_second - time.monotonic()))
        work()
    if (took := time.monotonic() - began) > 1.05 * seconds:
        raise RuntimeError(f"the load of {seconds} s took {took:.0f} s: this machine is too slow to be measured at it")


class _Tables:
    """The tables of a DynamoDB in memory, and the stack's Redis."""

    def __init__(self, port: int, nodes: Nodes) -> None:
        self.port, self.redis = port, nodes.client
        self._home = TimelineReader(nodes).home
        self._dynamodb = boto3.client("dynamodb", endpoint_url=f"http://{HOST}:{port}")

    def author(self, followers: int) -> str:
        """Have an author with so many followers whose lists are full."""
        author = f"author-{uuid.uuid4().hex[:8]}"
        rows = ({"followee_id": {"S": author}, "follower_id": {"S": fan}} for fan in fans(author, followers))
        put_all(self._dynamodb, "followers", (row | {"followed_at": {"N": "1"}} for row in rows))
        fill(self.redis, author, followers)
        return author

    def has_read(self, users: Iterable[str]) -> None:
        """Let users have read: their timelines are full, and show nobody but themselves."""
        ids = [str(FIRST - n) for n in range(layout.CAP)]
        for user in users:
            self.redis.delete(layout.home_timeline(user))
            token = self._home.begin(user)
            assert token
            assert self._home.commit(user, token, Timeline(ids, ids[-1], Shown.of([user])))

    def must_show(self, followee: str, users: Iterable[str]) -> None:
        """Fail unless a followee shows in all these timelines."""
        for user in users:
            assert followee in self._home.load([user])[user].shown, user

    def has_said(self, author: str, count: int) -> None:
        """Let the index have so many tweets of an author."""
        same = {"author_id": {"S": author}, "live_author_id": {"S": author}, "created_at": {"N": "1"}}
        put_all(self._dynamodb, "tweets", ({"tweet_id": {"S": tweet(author).tweet_id}, **same} for _ in range(count)))


@contextmanager
def _tables() -> Iterator[_Tables]:
    with dynamodb_local(in_memory=True) as store, closing(connect(os.environ["REDIS_URL"])) as nodes:
        yield _Tables(store.port, nodes)


STACK = "kafka,dynamodb,redis,registry"
BENCHMARKS = [held_up, viral, large]
