"""A tweet as clients see it. Pure."""

import json
from typing import NamedTuple, Self


class Tweet(NamedTuple):
    """What somebody said: it is written as JSON once, and nobody on the way to the client reads that."""

    tweet_id: str
    author_id: str
    shown: str

    @classmethod
    def written(cls, tweet_id: str, author_id: str, text: str, created_at: int) -> Self:
        """Write a tweet's JSON."""
        shown = {"tweet_id": tweet_id, "author_id": author_id, "text": text, "created_at": created_at}
        return cls(tweet_id, author_id, json.dumps(shown, ensure_ascii=False))
