"""What a user's id and a tweet's id are. Pure: time is an argument, and nothing but the standard library is imported.

Rule: a tweet's id is a snowflake of 19 digits: the milliseconds since EPOCH_MS, then 22 bits that tell apart the tweets
of one millisecond. So the order of ids as texts, their order as numbers and the order of time are one.
"""

import re

EPOCH_MS = 1_288_834_974_657  # the milliseconds of an id count from here
BITS_BELOW_MS = 22
TWEET_ID = r"[0-9]{19}"
USER_ID = r"[A-Za-z0-9_.:@|~-]{1,128}"
PATTERNS = {"user_id": USER_ID, "author_id": USER_ID, "tweet_id": TWEET_ID}  # by the names of fields in JSON
_TWEET_ID = re.compile(TWEET_ID)
_USER_ID = re.compile(rf"(?!(me|\.|\.\.)$){USER_ID}")  # these three mean something else in a path


def is_user_id(text: str) -> bool:
    """Tell whether a text can be a user's id: it travels in keys, URLs and Redis hash tags. `me` is nobody's."""
    return _USER_ID.fullmatch(text) is not None


def is_tweet_id(text: str) -> bool:
    """Tell whether a text can be a tweet's id."""
    return _TWEET_ID.fullmatch(text) is not None


def first_id(ms: int) -> str:
    """Return the lowest id that a tweet of this moment can have; the moment is in milliseconds since 1970."""
    return str((ms - EPOCH_MS) << BITS_BELOW_MS)
