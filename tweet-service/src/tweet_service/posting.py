"""How a tweet comes to be: its text, its id, and the key that makes it one tweet. Pure: the ids are an argument.

Rule: a post is one row. With an idempotency key, a claim before it says which row that will be.
"""

import re
from collections.abc import Callable
from hashlib import sha256

import regex

from tweet_service.tweets import Claim, Store, TakenIdError, Tweet

LONGEST = 280
LONGEST_BYTES = 280 * 32  # one visible character may be an endless pile of accents
_KEY = re.compile(r"[!-~]{1,255}")


class BadTextError(Exception):
    """A text is empty or too long."""


class BadKeyError(Exception):
    """An idempotency key is not one."""


class ReusedKeyError(Exception):
    """An idempotency key came with another body before."""


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
        raise BadKeyError("Idempotency-Key: Send 1 to 255 visible ASCII characters.")
    check_text(text)
    digest = sha256(text.encode()).hexdigest()
    while True:
        claim = store.claim(author_id, key, Claim(*next_id(), digest))
        if claim.digest != digest:
            raise ReusedKeyError("Idempotency-Key: This key came with another text before. Send a new key.")
        tweet = Tweet(claim.tweet_id, author_id, text, claim.created_at)
        if _written(store, tweet):
            return tweet
        store.unclaim(author_id, key, tweet.tweet_id)  # somebody else's tweet has this id: claim another


def check_text(text: str) -> None:
    """Refuse what is empty, blank or too long, counted as people count: in grapheme clusters."""
    if not text.strip():
        raise BadTextError("text: Send more than white space.")
    if len(text.encode()) > LONGEST_BYTES:
        raise BadTextError(f"text: Send at most {LONGEST_BYTES} bytes.")
    length = len(regex.findall(r"\X", text))
    if length > LONGEST:
        raise BadTextError(f"text: Send at most {LONGEST} characters, not {length}.")


def _written(store: Store, tweet: Tweet) -> bool:
    """Write the row; False if its id is another tweet's. A client that tries again may meet its own first try."""
    try:
        store.add(tweet)
    except TakenIdError:
        kept = store.find(tweet.tweet_id)
        return kept is not None and kept.tweet == tweet
    return True
