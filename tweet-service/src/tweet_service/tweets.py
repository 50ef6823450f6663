"""What a tweet is, and who may do what with it. Pure: rules and errors, no clock, no I/O.

Rule: a tweet is one row, written once; deleting it marks the row, and the table's stream tells everyone else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import regex

from tweet_service.audience import Accounts, View, view

LONGEST = 280
LONGEST_BYTES = 280 * 32  # one visible character may be an endless pile of accents
_USER_ID = re.compile(r"[A-Za-z0-9_.:@|~-]{1,128}")
_KEY = re.compile(r"[!-~]{1,255}")
_TWEET_ID = re.compile(r"[0-9]{1,19}")


class BadTextError(Exception):
    """A text is empty or too long."""


class UnknownTweetError(Exception):
    """There is no such tweet, or no longer."""


class NotYoursError(Exception):
    """Only its author deletes a tweet."""


class PrivateAuthorError(Exception):
    """The author is private, and the reader does not follow them."""


class BadCursorError(Exception):
    """A cursor that this service did not hand out."""


class BadKeyError(Exception):
    """An idempotency key is not one."""


class ReusedKeyError(Exception):
    """An idempotency key came with another body before."""


class TakenIdError(Exception):
    """Another tweet has this id."""


class StoreAwayError(Exception):
    """The store did not answer; the same call may succeed later."""


def is_user_id(text: str) -> bool:
    """Tell whether a text can be a user's id: it travels in keys, URLs and Redis hash tags."""
    return _USER_ID.fullmatch(text) is not None


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
class Kept:
    """A row as it is: the tweet, and whether it is deleted."""

    tweet: Tweet
    deleted: bool


@dataclass(frozen=True)
class Claim:
    """Which tweet an idempotency key stands for, and the digest of its text."""

    tweet_id: str
    created_at: int
    digest: str


class Store(Protocol):
    """What the rules need remembered."""

    def claim(self, author_id: str, key: str, claim: Claim) -> Claim:
        """Write the claim unless there is one for this key; return the one that stands."""

    def unclaim(self, author_id: str, key: str, tweet_id: str) -> None:
        """Withdraw the claim if it is for this tweet."""

    def add(self, tweet: Tweet) -> None:
        """Write a new row, or raise TakenIdError."""

    def find(self, tweet_id: str) -> Kept | None:
        """Return the row, strongly consistent."""

    def mark_deleted(self, tweet_id: str, now: int) -> None:
        """Mark the row; a mark that is there stays."""

    def by_author(self, author_id: str, limit: int, cursor: str | None) -> Page:
        """List an author's undeleted tweets, newest first."""


def post(store: Store, author_id: str, text: str, next_id: Callable[[], tuple[str, int]]) -> Tweet:
    """Write a tweet under a new id. The condition on the row decides whether an id is new."""
    check_text(text)
    while True:
        tweet_id, now = next_id()
        tweet = Tweet(tweet_id, author_id, text, now)
        if _written(store, tweet):
            return tweet


def post_once(store: Store, author_id: str, text: str, key: str, next_id: Callable[[], tuple[str, int]]) -> Tweet:
    """Write a tweet under the id that its key has claimed: however often it is asked for, it is one tweet.

    The claim comes first. So a crash between the two, or two retries at once, end in the same tweet.
    """
    if not _KEY.fullmatch(key):
        raise BadKeyError("Idempotency-Key must be 1 to 255 visible ASCII characters")
    check_text(text)
    digest = sha256(text.encode()).hexdigest()
    while True:
        claim = store.claim(author_id, key, Claim(*next_id(), digest))
        if claim.digest != digest:
            raise ReusedKeyError("this Idempotency-Key came with another text before; take a new key")
        tweet = Tweet(claim.tweet_id, author_id, text, claim.created_at)
        if _written(store, tweet):
            return tweet
        store.unclaim(author_id, key, tweet.tweet_id)  # somebody else's tweet has this id: claim another


def read(store: Store, accounts: Accounts, tweet_id: str, reader_id: str) -> Tweet:
    """Return a tweet that is not deleted. Of a private author's, a stranger does not even learn that there is one."""
    return _shown(_known(store, tweet_id), accounts, reader_id)


def delete(store: Store, accounts: Accounts, tweet_id: str, caller_id: str, now: int) -> None:
    """Delete one's own tweet. Safe to repeat."""
    kept = _known(store, tweet_id)
    if kept.tweet.author_id != caller_id:
        _shown(kept, accounts, caller_id)
        raise NotYoursError("only its author deletes a tweet")
    if not kept.deleted:
        store.mark_deleted(tweet_id, now)


def said_by(store: Store, accounts: Accounts, author_id: str, reader_id: str, limit: int, cursor: str | None) -> Page:
    """List what somebody said, newest first; of nobody, and of a deleted account, nothing."""
    seen = view(accounts, author_id, reader_id) if is_user_id(author_id) else View.GONE
    if seen is View.PRIVATE:
        raise PrivateAuthorError(f"{author_id} is private: ask to follow, and read on when they have accepted")
    return store.by_author(author_id, limit, cursor) if seen is View.OPEN else Page([], None)


def _written(store: Store, tweet: Tweet) -> bool:
    """Write the row; False if its id is another tweet's. A client that tries again may meet its own first try."""
    try:
        store.add(tweet)
    except TakenIdError:
        kept = store.find(tweet.tweet_id)
        return kept is not None and kept.tweet == tweet
    return True


def _shown(kept: Kept, accounts: Accounts, reader_id: str) -> Tweet:
    if kept.deleted or view(accounts, kept.tweet.author_id, reader_id) is not View.OPEN:
        raise UnknownTweetError(f"there is no tweet {kept.tweet.tweet_id!r}")
    return kept.tweet


def _known(store: Store, tweet_id: str) -> Kept:
    kept = store.find(tweet_id) if _TWEET_ID.fullmatch(tweet_id) else None
    if kept is None:
        raise UnknownTweetError(f"there is no tweet {tweet_id!r}")
    return kept


def check_text(text: str) -> None:
    """Refuse what is empty, blank or too long, counted as people count: in grapheme clusters."""
    if not text.strip():
        raise BadTextError("text must say something")
    if len(text.encode()) > LONGEST_BYTES:
        raise BadTextError(f"text must have at most {LONGEST_BYTES} bytes")
    length = len(regex.findall(r"\X", text))
    if length > LONGEST:
        raise BadTextError(f"text must have at most {LONGEST} characters, it has {length}")
