"""The opaque texts that clients hand back: the cursor of a page. Pure.

Rule: a cursor holds a tweet id and never an offset, so whatever arrives above it moves nothing.
"""

import base64
import binascii
from contextlib import suppress

from contracts.ids import is_tweet_id


class BadCursorError(Exception):
    """A cursor, or a mark of what is new, that this service did not hand out."""


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
