"""What a home timeline is. Pure: no clock, no I/O.

Rule: each source of ids is strictly descending and complete from its head down to its own floor. So whatever lies above
the highest floor of all sources is the truth, and below it the next source is asked. The read decides what shows:
only undeleted tweets of those the reader follows now, and the reader's own. Ids are 19 digits: they compare as texts.
"""

import base64
import binascii
import heapq
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import NamedTuple

from contracts.ids import is_tweet_id

CAP = 800  # tweets that a cached timeline holds
BEGINNING = "0"  # a floor below every id
TOP = "9" * 19  # above every id


class BadCursorError(Exception):
    """A cursor, or a mark of what is new, that this service did not hand out."""


class StoreAwayError(Exception):
    """The database did not answer; the same call may succeed later."""


class CacheAwayError(Exception):
    """The cache did not answer; the database knows it all, slower."""


class Tweet(NamedTuple):
    """What somebody said, as clients see it: it is written as JSON once, and nobody on the way reads that."""

    tweet_id: str
    author_id: str
    shown: str


@dataclass(frozen=True)
class Page:
    """Some tweets, newest first, where they go on, and the mark to ask later for what is new above them."""

    tweets: list[Tweet]
    next_cursor: str | None
    newest: str | None


@dataclass(frozen=True)
class Run:
    """Ids, strictly descending, and complete from the head down to the floor."""

    ids: Sequence[str]
    floor: str


@dataclass(frozen=True)
class Timeline(Run):
    """What a reader may see, and whom the reader follows, themselves included."""

    following: frozenset[str]


def union(runs: Collection[Run], below: str = TOP, count: int | None = None) -> Run:
    """Merge what lies below an id, without repeats: complete down to the highest floor, or to the last id wanted."""
    if len(runs) == 1:  # nearly every page
        (run,) = runs
        ids = list(under(run.ids, below)[:count])
        return Run(ids, ids[-1] if ids and len(ids) == count else run.floor)
    floor = max([run.floor for run in runs])
    parts = [under(run.ids, below) for run in runs]
    least = max([floor, *(part[count - 1] for part in parts if count and len(part) >= count)])  # none below is wanted
    merged = heapq.merge(*[part for part in parts if part and part[0] >= least], reverse=True)
    ids = [tweet_id for tweet_id, _ in islice(groupby(merged), count)]
    ids = ids[: len(ids) - len(under(ids, floor))]
    return Run(ids, ids[-1] if ids and len(ids) == count else floor)


def behind(runs: Mapping[str, Run], count: int) -> dict[str, str]:
    """Return whose runs end above the last of the newest so many ids, and where: the rest need no more reading."""
    ids = sorted({*chain.from_iterable(run.ids for run in runs.values())}, reverse=True)
    last = ids[count - 1] if len(ids) >= count else BEGINNING
    return {name: run.floor for name, run in runs.items() if run.floor > last}


def under(ids: Sequence[str], below: str) -> Sequence[str]:
    """Return the ids that come after this one."""
    if not ids or ids[0] < below:  # nearly always
        return ids
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ids[middle] < below else (middle + 1, high)
    return ids[low:]


def tweet(tweet_id: str, author_id: str, text: str, created_at: int) -> Tweet:
    """Write a tweet as clients see it."""
    shown = {"tweet_id": tweet_id, "author_id": author_id, "text": text, "created_at": created_at}
    return Tweet(tweet_id, author_id, json.dumps(shown, ensure_ascii=False))


def visible(ids: Iterable[str], bodies: Mapping[str, Tweet], following: frozenset[str]) -> list[Tweet]:
    """Keep the tweets that exist and whose authors are followed."""
    tweets = (bodies[tweet_id] for tweet_id in ids if tweet_id in bodies)
    return [tweet for tweet in tweets if tweet.author_id in following]


def page(tweets: Sequence[Tweet], limit: int, newest: str | None) -> Page:
    """Cut a page; one tweet more than the limit tells that there is a next one."""
    shown = list(tweets[:limit])
    return Page(shown, write_cursor(shown[-1].tweet_id) if len(tweets) > limit else None, newest)


def write_cursor(tweet_id: str) -> str:
    """Make the cursor of the page below this tweet."""
    return opaque(tweet_id)


def read_cursor(cursor: str) -> str:
    """Return the id that a cursor stands for."""
    if (tweet_id := plain(cursor)) and is_tweet_id(tweet_id):
        return tweet_id
    raise BadCursorError("cursor: give back a next_cursor as it came, or leave it out")


def opaque(text: str) -> str:
    """Wrap what clients hand back and need not understand."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def plain(text: str) -> str | None:
    """Unwrap what opaque made; None if it made no such thing."""
    with suppress(ValueError, binascii.Error):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    return None
