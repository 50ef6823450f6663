"""A page of a home timeline: from the cache as far down as it is complete, below that from the database."""

import heapq
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from timeline_service.timeline import (
    BEGINNING,
    CAP,
    TOP,
    CacheAwayError,
    Page,
    Timeline,
    Tweet,
    below,
    built,
    page,
    visible,
)

REBUILDS = 3
_log = logging.getLogger(__name__)


class Cache(Protocol):
    """Timelines, recent tweets and bodies, any of which may be gone at any time."""

    def load(self, user_id: str) -> Timeline | None:
        """Return the timeline; None if it is cold. A read renews its expiry."""

    def begin(self, user_id: str) -> str | None:
        """Mark a rebuild and return its token; None if another rebuild is in progress."""

    def commit(self, user_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, below what arrived meanwhile, if the mark is still there."""

    def noted(self, user_id: str) -> Iterable[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the latest ids of these authors, in no order: an index may not have them yet."""

    def bodies(self, tweet_ids: list[str]) -> dict[str, Tweet | None]:
        """Return what is known of these tweets; None stands for a deleted one."""

    def fill(self, tweets: Iterable[Tweet], gone: Iterable[str]) -> None:
        """Remember bodies that the database gave, and which tweets it has no longer."""


class Archive(Protocol):
    """The database, which has it all."""

    def followees(self, user_id: str, noted: Iterable[str] = ()) -> frozenset[str]:
        """Return whom the user follows: by the index, which may lag, but for the noted ones by the table itself."""

    def latest(self, author_ids: Iterable[str], below: str, count: int) -> list[list[Tweet]]:
        """Return for each author the newest undeleted tweets below an id."""

    def tweets(self, tweet_ids: list[str]) -> dict[str, Tweet]:
        """Return those of the tweets that are not deleted, strongly consistent."""


class Reading:
    """Home timelines over one cache and one archive. Safe among threads."""

    def __init__(self, cache: Cache, archive: Archive, note: Callable[[str], None]) -> None:
        """Take the stores, and whom to tell where each page came from: cache, rebuild or database."""
        self._cache = cache
        self._archive = archive
        self._note = note

    def home(self, user_id: str, limit: int, cursor: str) -> Page:
        """Return the tweets below the cursor; a page is short only at the very end."""
        try:
            timeline = self._cache.load(user_id)
            self._note("cache" if timeline else "rebuild")
            return self._page(timeline or self._rebuild(user_id), limit, cursor)
        except CacheAwayError as error:
            _log.warning("reading from the database", extra={"reason": str(error)})
            self._note("database")
            return self._page(Timeline([], TOP, self._archive.followees(user_id) | {user_id}), limit, cursor)

    def _page(self, timeline: Timeline, limit: int, cursor: str) -> Page:
        wanted = limit + 1
        tweets: list[Tweet] = []
        ids = below(timeline.ids, cursor)
        while ids and len(tweets) < wanted:
            chunk, ids = ids[:wanted], ids[wanted:]
            tweets += visible(chunk, self._bodies(chunk), timeline.following)
        if len(tweets) < wanted and timeline.floor != BEGINNING:
            start = min(cursor, timeline.floor, key=int)
            sources = self._archive.latest(timeline.following, start, wanted - len(tweets))
            tweets += heapq.merge(*sources, key=lambda tweet: int(tweet.tweet_id), reverse=True)
        return page(tweets, limit)

    def _rebuild(self, user_id: str) -> Timeline:
        """Build the timeline anew. Nothing is kept if a follow changed meanwhile, so begin again then."""
        for _ in range(REBUILDS):
            token = self._cache.begin(user_id)
            following = self._archive.followees(user_id, self._cache.noted(user_id)) | {user_id}
            sources = self._archive.latest(following, TOP, CAP)
            ids = [[tweet.tweet_id for tweet in tweets] for tweets in sources]
            timeline = built(ids, self._cache.recent(following), following)
            if token is None or self._cache.commit(user_id, token, timeline):
                break
        return timeline

    def _bodies(self, tweet_ids: list[str]) -> dict[str, Tweet]:
        known = self._cache.bodies(tweet_ids)
        if missing := [tweet_id for tweet_id in tweet_ids if tweet_id not in known]:
            found = self._archive.tweets(missing)
            self._cache.fill(found.values(), [tweet_id for tweet_id in missing if tweet_id not in found])
            known |= found
        return {tweet_id: tweet for tweet_id, tweet in known.items() if tweet is not None}
