"""What a home timeline is. Pure: no clock, no I/O.

Rule: each source of ids is strictly descending and complete from its head down to its own floor. So whatever lies above
the highest floor of all sources is the truth, and below it the next source is asked. The read decides what shows:
only undeleted tweets of those the reader follows now, and the reader's own.
"""

import base64
import binascii
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice

CAP = 800  # tweets that a cached timeline holds
BEGINNING = "0"  # a floor below every id
TOP = "9" * 19  # above every id
_TWEET_ID = re.compile(r"[0-9]{19}")
_USER_ID = re.compile(r"[A-Za-z0-9_.:@|~-]{1,128}")


class BadCursorError(Exception):
    """A cursor that this service did not hand out."""


class StoreAwayError(Exception):
    """The database did not answer; the same call may succeed later."""


class CacheAwayError(Exception):
    """The cache did not answer; the database knows it all, slower."""


@dataclass(frozen=True)
class Tweet:
    """What somebody said, and when."""

    tweet_id: str
    author_id: str
    text: str
    created_at: int


@dataclass(frozen=True)
class Page:
    """Some tweets, newest first, and where they go on."""

    tweets: list[Tweet]
    next_cursor: str | None


@dataclass(frozen=True)
class Timeline:
    """Ids that a reader may see, complete down to the floor, and whom the reader follows, themselves included."""

    ids: Sequence[str]
    floor: str
    following: frozenset[str]


def is_user_id(text: str) -> bool:
    """Tell whether a text can be a user's id: it travels in keys, URLs and Redis hash tags."""
    return _USER_ID.fullmatch(text) is not None


def merged(sources: Iterable[Iterable[str]]) -> Iterator[str]:
    """Merge descending ids into one descending sequence without repeats."""
    return (tweet_id for tweet_id, _ in groupby(heapq.merge(*sources, key=int, reverse=True)))


def built(sources: Sequence[Sequence[str]], extra: Iterable[str], following: frozenset[str]) -> Timeline:
    """Make a timeline of the newest CAP tweets of each author followed, and of ids that may be newer still.

    A source of CAP ids may go on below its last; then the whole is full too, and its floor is no lower.
    """
    ids = list(islice(merged([*sources, sorted(extra, key=int, reverse=True)]), CAP))
    return Timeline(ids, ids[-1] if len(ids) == CAP else BEGINNING, following)


def below(ids: Sequence[str], cursor: str) -> list[str]:
    """Return the ids that come after this one."""
    return [tweet_id for tweet_id in ids if int(tweet_id) < int(cursor)]


def visible(ids: Iterable[str], bodies: Mapping[str, Tweet], following: frozenset[str]) -> list[Tweet]:
    """Keep the tweets that exist and whose authors are followed."""
    tweets = (bodies[tweet_id] for tweet_id in ids if tweet_id in bodies)
    return [tweet for tweet in tweets if tweet.author_id in following]


def page(tweets: Sequence[Tweet], limit: int) -> Page:
    """Cut a page; one tweet more than the limit tells that there is a next one."""
    shown = list(tweets[:limit])
    return Page(shown, write_cursor(shown[-1].tweet_id) if len(tweets) > limit else None)


def write_cursor(tweet_id: str) -> str:
    """Make the cursor of the page below this tweet."""
    return base64.urlsafe_b64encode(tweet_id.encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """Return the id that a cursor stands for."""
    with suppress(ValueError, binascii.Error):
        tweet_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if _TWEET_ID.fullmatch(tweet_id):
            return tweet_id
    raise BadCursorError("cursor: give back a next_cursor as it came, or leave it out")
