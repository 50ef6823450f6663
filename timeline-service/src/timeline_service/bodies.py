"""Tweets by their ids: from this process, from the cache, and from the database what that does not know.

Rule: a tweet is the same for every reader, so it may be held in the process for a second; a deletion shows that much
later.
"""

import logging
from collections.abc import Callable, Mapping, Sequence

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet
from timeline_service.builder import Tweets

HELD_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Bodies:
    """Tweets that exist. Safe among threads."""

    def __init__(self, cache: TimelineReader, tweets: Tweets, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._cache = cache
        self._tweets = tweets
        self._clock = clock
        self._held: dict[str, Tweet | None] = {}
        self._until = 0.0

    def of(self, tweet_ids: Sequence[str]) -> Mapping[str, Tweet]:
        """Return those of the tweets that exist."""
        if (now := self._clock()) >= self._until:
            self._held, self._until = {}, now + HELD_SECONDS
        held = self._held  # for this whole call, even if another thread begins a new one
        if missing := [tweet_id for tweet_id in tweet_ids if tweet_id not in held]:
            held.update(self._read(missing))
        return {tweet_id: tweet for tweet_id in tweet_ids if (tweet := held[tweet_id])}

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
