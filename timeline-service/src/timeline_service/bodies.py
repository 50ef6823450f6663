"""Tweets by their ids: from the cache, and from the database what that does not know.

Rule: nothing is held in the process, for another process may have shown that a tweet is deleted.
"""

import logging
from collections.abc import Mapping, Sequence

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet
from timeline_service.builder import Tweets

_log = logging.getLogger(__name__)


class Bodies:
    """Tweets that exist. Safe among threads."""

    def __init__(self, cache: TimelineReader, tweets: Tweets) -> None:
        self._cache = cache
        self._tweets = tweets

    def of(self, tweet_ids: Sequence[str]) -> Mapping[str, Tweet]:
        """Return those of the tweets that exist."""
        return {tweet_id: tweet for tweet_id, tweet in self._read(tweet_ids).items() if tweet}

    def _read(self, tweet_ids: Sequence[str]) -> dict[str, Tweet | None]:
        """Return what becomes of each, and let the cache remember what it did not know."""
        try:
            known, rights = self._cache.bodies(tweet_ids)
            if unknown := [tweet_id for tweet_id in tweet_ids if tweet_id not in known]:
                found = self._tweets.tweets(unknown)
                known |= dict.fromkeys(unknown) | found
                if rights:
                    self._cache.fill(rights, found)
        except RedisAwayError as error:
            _log.warning("Redis is away: reading tweets from the database", extra={"reason": str(error)})
            return dict.fromkeys(tweet_ids) | self._tweets.tweets(tweet_ids)
        return known
