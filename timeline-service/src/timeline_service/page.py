"""A page of a home timeline: from the cache as far down as it is complete, below that from the database."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from timeline_service.ahead import Ahead
from timeline_service.bodies import Bodies
from timeline_service.building import Building
from timeline_service.celebrities import Sayings
from timeline_service.places import BusyError
from timeline_service.seen import NOTHING, Seen, write_mark
from timeline_service.stores import Archive, Cache
from timeline_service.timeline import BEGINNING, TOP, CacheAwayError, Page, Run, Tweet, page, union, visible

AMPLE = 3  # times as many ids as wanted fill a page, unless many are deleted or of authors left
LEAST = 60  # ids that are read even for a small page: more than a mark names
_log = logging.getLogger(__name__)


class Stretch(NamedTuple):
    """Some ids in a row, whom the reader followed meanwhile, what knows the bodies, and where it all came from."""

    run: Run
    following: frozenset[str]
    bodies: Callable[[Sequence[str]], Mapping[str, Tweet]]
    source: str


class Reading:
    """Home timelines over one cache and one archive. Safe among threads."""

    def __init__(
        self,
        cache: Cache,
        archive: Archive,
        building: Building,
        sayings: Sayings,
        bodies: Bodies,
        note: Callable[[str], None],
        clock: Callable[[], float],
        least: int = LEAST,
    ) -> None:
        """Take the stores, what builds on them, whom to tell where each page came from, the time, and a size."""
        self._cache = cache
        self._archive = archive
        self._building = building
        self._sayings = sayings
        self._bodies = bodies
        self._ahead = Ahead(building.gathered, clock)
        self._note = note
        self._clock = clock
        self._least = least

    def home(self, user_id: str, limit: int, cursor: str = TOP, seen: Seen = NOTHING) -> Page:
        """Return the tweets below the cursor that were not seen; a page is short only at the very end."""
        now, newest = self._clock(), None
        tweets: list[Tweet] = []
        try:
            for stretch in self._stretches(user_id, cursor, max(AMPLE * (limit + 1), self._least)):
                newest = newest or write_mark(stretch.run, now)
                tweets += _shown(stretch, seen, limit + 1 - len(tweets))
                if len(tweets) > limit or stretch.run.floor <= seen.floor:
                    break
        except BusyError:
            self._note("shed")
            raise
        self._note(stretch.source)
        return page(tweets, limit, newest if cursor == TOP else None)

    def _stretches(self, user_id: str, below: str, ample: int) -> Iterator[Stretch]:
        """Give all that lies below an id, down to the first tweet ever."""
        try:
            for count in [ample, None] if below == TOP else [None]:  # at the top a part of what is cached will do
                timeline = self._cache.home.load([user_id], count).get(user_id)
                source = "cache" if timeline else "rebuild"
                timeline = timeline or self._building.home(user_id)
                following, runs = timeline.following, [timeline, *self._sayings.runs(timeline.following, count)]
                more = True
                while more:
                    run = union(runs, below, ample)
                    yield Stretch(run, following, self._bodies.of, source)
                    below, more = min(below, run.floor), len(run.ids) == ample
        except CacheAwayError as error:
            _log.warning("reading from the database", extra={"reason": str(error)})
            following = self._archive.followees(user_id) | {user_id}
        while below != BEGINNING:
            run = self._ahead.run(user_id, following, below, ample)
            yield Stretch(run, following, self._archive.tweets, "database")
            below = run.floor


def _shown(stretch: Stretch, seen: Seen, wanted: int) -> list[Tweet]:
    """Return the first so many that are new, exist, and whose authors are followed."""
    new: Sequence[str] = stretch.run.ids
    if seen is not NOTHING:
        new = [tweet_id for tweet_id in new if seen.new(tweet_id)]
    tweets: list[Tweet] = []
    while new and len(tweets) < wanted:
        chunk, new = new[:wanted], new[wanted:]
        tweets += visible(chunk, stretch.bodies(chunk), stretch.following)
    return tweets[:wanted]
