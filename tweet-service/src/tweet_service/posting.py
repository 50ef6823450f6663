"""How a tweet comes to be: its text, its id, and the key that makes it one tweet. Pure: the ids are an argument.

Rule: a post is one row. With an idempotency key, a claim before it says which row that will be.
"""

import re
from collections.abc import Callable
from hashlib import sha256

from murmuration_edge import texts
from tweet_service.tweets import Claim, Store, TakenIdError, Tweet

LONGEST = 280
_KEY = re.compile(r"[!-~]{1,255}")


class BadKeyError(Exception):
    """An idempotency key is not one."""

    errors = ({"header": "Idempotency-Key", "detail": "Send 1 to 255 visible ASCII characters."},)

    def __init__(self) -> None:
        super().__init__("Idempotency-Key: {detail}".format(**self.errors[0]))


class DeletedTweetError(Exception):
    """The tweet that an idempotency key stands for is deleted."""

    def __init__(self, tweet_id: str) -> None:
        super().__init__(
            f"Idempotency-Key: The tweet {tweet_id} of this key is deleted. To say it again, send a new key."
        )


class ReusedKeyError(Exception):
    """An idempotency key came with another body before."""


def post(store: Store, author_id: str, sent: str, next_id: Callable[[], tuple[str, int]]) -> Tweet:
    """Write a tweet under a new id. The condition on the row decides whether an id is new."""
    text = checked_text(sent)
    while True:
        tweet_id, now = next_id()
        tweet = Tweet(tweet_id, author_id, text, now)
        if _written(store, tweet):
            return tweet


def post_once(store: Store, author_id: str, sent: str, key: str, next_id: Callable[[], tuple[str, int]]) -> Tweet:
    """Write a tweet under the id that its key has claimed: however often it is asked for, it is one tweet, or none.

    The claim comes first. So a crash between the two, or two retries at once, end in the same tweet.
    """
    if not _KEY.fullmatch(key):
        raise BadKeyError
    text = checked_text(sent)
    digest = sha256(text.encode()).hexdigest()
    while True:
        claim = store.claim(author_id, key, Claim(*next_id(), digest))
        if claim.digest != digest:
            raise ReusedKeyError("Idempotency-Key: This key came with another text before. Send a new key.")
        tweet = Tweet(claim.tweet_id, author_id, text, claim.created_at)
        if _written(store, tweet):
            return tweet
        store.unclaim(author_id, key, tweet.tweet_id)  # somebody else's tweet has this id: claim another


def checked_text(sent: str) -> str:
    """Return a text as it is to be kept, if others can be shown it."""
    return texts.checked("text", sent, LONGEST, lines=True)


def _written(store: Store, tweet: Tweet) -> bool:
    """Write the row; False if its id is another tweet's. A client that tries again may meet its own first try."""
    try:
        store.add(tweet)
    except TakenIdError:
        kept = store.find(tweet.tweet_id)
        if kept is None or not kept.is_of(tweet):
            return False
        if kept.deleted:
            raise DeletedTweetError(tweet.tweet_id) from None
    return True
