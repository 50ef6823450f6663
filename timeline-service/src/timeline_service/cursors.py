"""The cursor of a page. Pure.

Rule: a cursor holds a tweet id and never an offset, so whatever arrives above it moves nothing.
"""

from contracts.ids import is_tweet_id
from murmuration_edge.cursors import BadCursorError, decode, encode


def write_cursor(tweet_id: str) -> str:
    """Make the cursor of the page below this tweet."""
    return encode(tweet_id)


def read_cursor(cursor: str) -> str:
    """Return the id that a cursor stands for."""
    if (tweet_id := decode(cursor)) and is_tweet_id(tweet_id):
        return tweet_id
    raise BadCursorError
