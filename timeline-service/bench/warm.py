"""What a warm page costs that any of a thousand readers asks for, beside the one that one would write by hand."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from redis import Redis

from contracts.ids import first_id
from murmuration_timelines.layout import BEGINNING, CAP
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader, connect
from murmuration_timelines.redis_timelines import CachedTimelines
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet

from .readers import MARK, Answers, Served, asked, median, served, write

READERS = int(os.environ.get("WARM_READERS", "1000"))
AUTHORS = 100_000  # so many that two readers have few tweets in common
BETWEEN = 1_000  # tweets of all between two of a celebrity
SECONDS = float(os.environ.get("SECONDS_EACH", "3"))
ROUNDS = 5
CONNECTIONS = 4
LIMIT = 20
FILLED_AT_ONCE = 500
FILLED = 3 * LIMIT  # of the newest tweets of each reader
PAGE = f"/v1/timeline?limit={LIMIT}"
MOST_MS = 0.25
_HOUR_AGO = int(first_id(int(time.time() * 1000) - 3_600_000))
_STEP = 1 << 16  # of ids, between two tweets


@dataclass(frozen=True)
class Crowd:
    """A thousand people who each follow so many, at random, and all of them so many celebrities."""

    followees: int
    celebrities: int
    most_kilobytes: int

    def reader(self, n: int) -> str:
        """Name one."""
        return f"{MARK}-w{self.followees}-{self.celebrities}-{n}"

    def famous(self) -> list[str]:
        """Name the celebrities."""
        return [f"{MARK}-f{n}" for n in range(self.celebrities)]

    def timeline(self, n: int) -> Timeline:
        """Return what stands in Redis of a reader: of each author every 100,000th tweet."""
        followed = random.Random(n).sample(range(AUTHORS), self.followees)
        turns = range(-(-CAP // self.followees))
        ids = sorted((_tweet_id(turn * AUTHORS + author) for turn in turns for author in followed), reverse=True)[:CAP]
        shown = Shown.of([self.reader(n), *self.famous(), *map(_author, followed)])
        return Timeline(ids, ids[-1], shown)


def _author(n: int) -> str:
    return f"{MARK}-a{n}"


def _tweet_id(rank: int, celebrity: int = 0) -> str:
    return str(_HOUR_AGO - rank * _STEP - celebrity)


def _tweet(tweet_id: str) -> Tweet:
    """Return a tweet as its id says."""
    rank, celebrity = divmod(_HOUR_AGO - int(tweet_id), _STEP)
    author = f"{MARK}-f{celebrity - 1}" if celebrity else _author(rank % AUTHORS)
    return Tweet.written(tweet_id, author, f"what {author} said, of about the length that people write", 1)


def fill(crowd: Crowd) -> None:
    """Put their timelines into Redis as they would stand there, and as by hand."""
    reader = TimelineReader(connect(os.environ["REDIS_URL"]))
    seen: set[str] = set()
    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        for n in range(READERS):
            timeline = crowd.timeline(n)
            _put(reader.home, crowd.reader(n), timeline)
            redis.rpush(f"by-hand:home:{crowd.reader(n)}", *timeline.ids)
            seen.update(timeline.ids[:FILLED])
        for number, name in enumerate(crowd.famous(), 1):
            ids = [_tweet_id(rank, number) for rank in range(0, CAP * BETWEEN, BETWEEN)]
            _put(reader.authors, name, Timeline(ids, BEGINNING, Shown.of([name])))
            redis.rpush(f"by-hand:said:{name}", *ids)
            seen.update(ids[:FILLED])
        ids = [*seen]
        for start in range(0, len(ids), FILLED_AT_ONCE):
            some = ids[start : start + FILLED_AT_ONCE]
            tweets = {tweet_id: _tweet(tweet_id) for tweet_id in some}
            reader.fill(reader.bodies(some)[1], tweets)
            redis.mset({f"by-hand:tweet:{tweet_id}": tweet.shown for tweet_id, tweet in tweets.items()})


def _put(timelines: CachedTimelines, owner: str, timeline: Timeline) -> None:
    token = timelines.begin(owner)
    assert token, f"{owner} is warm already"
    assert timelines.commit(owner, token, timeline)


def warm() -> list[dict[str, Any]]:
    """Twenty tweets with bodies for any of a thousand, with no and five celebrities, and for who follow very many."""
    figures = []
    for crowd in (Crowd(200, 0, 10), Crowd(200, 5, 10), Crowd(5_000, 0, 32)):
        write("users", ({"user_id": {"S": name}, "celebrity_since": {"S": "1"}} for name in crowd.famous()))
        fill(crowd)
        with (
            served() as ours,
            served("bench.served:by_hand()", BY_HAND_CELEBRITIES=" ".join(crowd.famous())) as by_hand,
        ):
            figures += _figures(crowd, ours, by_hand)
    return figures


@dataclass(frozen=True)
class Run:
    """What was answered, and what it cost: processor time of the service, bytes from Redis."""

    answers: Answers
    milliseconds: float
    kilobytes: float


def _run(app: Served, ask: Callable[[], tuple[str, str | None]]) -> Run:
    with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        sent, spent = redis.info("stats")["total_net_output_bytes"], app.processor_seconds()
        answers = asked(app.port, CONNECTIONS, SECONDS, ask)
        used, took = app.processor_seconds() - spent, redis.info("stats")["total_net_output_bytes"] - sent
    assert answers.statuses.keys() == {HTTPStatus.OK}
    return Run(answers, used / len(answers.each) * 1000, took / len(answers.each) / 1000)


def _figures(crowd: Crowd, ours: Served, by_hand: Served) -> list[dict[str, Any]]:
    def anybody() -> tuple[str, str | None]:
        return PAGE, crowd.reader(random.randrange(READERS))

    for app in (ours, by_hand):
        _run(app, anybody)  # tokens are remembered, connections are there
    pages, hands, nothings = [], [], []
    for _ in range(ROUNDS):
        pages.append(_run(ours, anybody))
        hands.append(_run(by_hand, anybody))
        nothings.append(_run(ours, lambda: ("/v1/nothing", None)))
    who = f"{READERS} readers of {crowd.followees} and {crowd.celebrities} celebrities, who have read before"
    how = (
        f"lists of {CAP}, {LIMIT} tweets, {CONNECTIONS} connections, medians of {ROUNDS} runs of {SECONDS:g} s by turns"
    )

    def figure(name: str, unit: str, of: Callable[[Run], float], **target: Any) -> dict[str, Any]:
        mine, theirs = median(map(of, pages)), median(map(of, hands))
        told = {"ours": mine, "reference": theirs, "unit": unit, "ratio": mine / theirs, **target}
        return {
            "name": f"warm page, {crowd.followees} followed, {crowd.celebrities} celebrities: {name}",
            **told,
            "setup": setup,
        }

    setup = f"{who}, {how}; reference: LRANGE, MGET and json by hand, in bare Flask behind the same check of tokens"
    above = median(page.milliseconds for page in pages) - median(nothing.milliseconds for nothing in nothings)
    return [
        figure("requests", "req/s", lambda run: run.answers.rate(), target=1.0),
        figure("p99", "ms", lambda run: run.answers.milliseconds(0.99)),
        figure("from Redis", "KB", lambda run: run.kilobytes, at_most=crowd.most_kilobytes),
        figure("processor", "ms", lambda run: run.milliseconds),
        {**figure("processor above a no-op", "ms", lambda _: above), "reference": None, "at_most": MOST_MS},
    ]


STACK = "kafka,dynamodb,redis,registry"
BENCHMARKS = [warm]
