"""A page of a home timeline: from the cache as far down as it is complete, below that from the database."""

import logging
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import TOP, Run, Timeline, union
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet
from timeline_service.authors import Authors, present
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder, Tweets
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.confirming import AT_ONCE, Confirmation, Confirming
from timeline_service.cursors import write_cursor
from timeline_service.deep_pages import DeepPages
from timeline_service.held_timelines import HeldTimelines
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import NOTHING, SinceMark, write_mark

AMPLE = 3  # times as many ids as wanted fill a page, unless many are deleted or of authors left
LEAST = 60  # ids that are read even for a small page: more than a mark names
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Page:
    """Some tweets, newest first, where they go on, and the mark to ask later for what is new above them."""

    tweets: list[Tweet]
    next_cursor: str | None
    newest: str | None


@dataclass
class Descent:
    """How far down a timeline has been read; how many ids were looked at, how many showed, and which are hidden now."""

    below: str
    whole: Timeline | None = None  # if so few showed that it was needed
    looked_at: int = 0
    showed: int = 0
    hidden: set[str] = field(default_factory=set)  # their tweets exist, and may show later

    def dropped(self, least: int) -> float:
        """Return which share of the ids does not show, or 0 if too few were looked at to tell."""
        if self.whole is None or self.looked_at < max(1, min(least, len(self.whole.ids))):
            return 0
        return 1 - self.showed / self.looked_at


class Stretch(NamedTuple):
    """Some ids in a row, whose tweets showed meanwhile, what knows the bodies, and where it all came from."""

    run: Run
    shown: Container[str]
    bodies: Callable[[Sequence[str]], Mapping[str, Tweet]]
    source: str
    descent: Descent


class Pages:
    """Pages of home timelines over one cache and one database. Safe among threads."""

    def __init__(
        self,
        cache: TimelineReader,
        authors: Authors,
        tweets: Tweets,
        builder: Builder,
        celebrity_tweets: CelebrityTweets,
        bodies: Bodies,
        look: Callable[[str, Timeline, float], object],
        count_page: Callable[[str], None],
        clock: Callable[[], float],
        confirming: Confirming,
        least: int = LEAST,
        departed: Container[str] = frozenset(),
    ) -> None:
        """look: is told of each warm timeline that is read, and which share of it did not show, if that is known.

        count_page: is told of each page where it came from: cache, rebuild, database, or shed.
        departed: who deleted their account.
        """
        self._cache = cache
        self._held = HeldTimelines(cache.home)
        self._authors = authors
        self._tweets = tweets
        self._builder = builder
        self._celebrity_tweets = celebrity_tweets
        self._bodies = bodies
        self._deep_pages = DeepPages(builder)
        self._look = look
        self._count_page = count_page
        self._clock = clock
        self._confirming = confirming
        self._least = least
        self._departed = departed

    def home(self, user_id: str, limit: int, cursor: str = TOP, since: SinceMark = NOTHING) -> Page:
        """Return the tweets below the cursor that are new since the mark; a page is short only at the very end."""
        now, newest, source = self._clock(), None, ""
        tweets: list[Tweet] = []
        confirmation = self._confirming.begin(user_id)
        descent = Descent(cursor)
        try:
            for stretch in self._stretches(user_id, descent, max(AMPLE * (limit + 1), self._least)):
                source = stretch.source
                if confirmation is None and source != "cache":
                    confirmation = self._confirming.insist(user_id)
                tweets += self._shown(stretch, since, limit + 1 - len(tweets), confirmation)
                newest = newest or write_mark(stretch.run, now, since, stretch.descent.hidden)
                if len(tweets) > limit or stretch.run.floor <= since.floor:
                    break
        except BusyError:
            self._count_page("shed")
            raise
        finally:
            if confirmation:
                self._confirming.end(confirmation)
            if descent.whole:
                self._look(user_id, descent.whole, descent.dropped(self._least))
        self._count_page(source)
        shown = tweets[:limit]
        next_cursor = (
            write_cursor(shown[-1].tweet_id) if len(tweets) > limit else None
        )  # one more: there is a next page
        return Page(shown, next_cursor, newest if cursor == TOP else None)

    def _stretches(self, user_id: str, descent: Descent, ample: int) -> Iterator[Stretch]:
        """Give all that lies below an id, down to the first tweet ever."""
        try:
            if descent.below == TOP:  # the newest ids fill most pages; only if they do not, the whole list is read
                yield from self._cached(user_id, descent, ample, newest=ample)
            yield from self._cached(user_id, descent, ample, newest=None)
        except RedisAwayError as error:
            _log.warning("Redis is away: reading from the database", extra={"reason": str(error)})
        if descent.below != BEGINNING:
            authors = self._authors_of(user_id)
        while descent.below != BEGINNING:
            run = self._deep_pages.run(user_id, authors, descent.below, ample)
            yield Stretch(run, authors, self._tweets.tweets, "database", Descent(run.floor))
            descent.below = run.floor

    def _authors_of(self, user_id: str) -> frozenset[str]:
        """Return whose tweets show now."""
        try:
            noted = self._cache.noted(user_id)
        except RedisAwayError:  # an index that lags is all there is
            noted = []
        return present(self._authors.of(user_id, noted), user_id, self._departed)

    def _cached(self, user_id: str, descent: Descent, ample: int, newest: int | None) -> Iterator[Stretch]:
        """Give what the cache holds, or so many of the newest ids of it; build it first where it is cold."""
        timeline = self._held.newest(user_id, newest) if newest else self._cache.home.load([user_id]).get(user_id)
        source = "cache" if timeline else "rebuild"
        if timeline and newest is None:
            descent.whole = timeline
        elif timeline:
            self._look(user_id, timeline, 0)
        timeline = timeline or self._builder.home(user_id)
        runs = [timeline, *self._celebrity_tweets.runs(timeline.shown, newest)]
        is_more = True
        while is_more:
            run = union(runs, descent.below, ample)
            yield Stretch(run, timeline.shown, self._bodies.of, source, descent)
            descent.below, is_more = min(descent.below, run.floor), len(run.ids) == ample

    def _shown(self, stretch: Stretch, since: SinceMark, wanted: int, confirmation: Confirmation | None) -> list[Tweet]:
        """Return the first so many that are new, exist, and whose authors are followed."""
        new: Sequence[str] = stretch.run.ids
        if since is not NOTHING:
            new = [tweet_id for tweet_id in new if since.is_new(tweet_id)]
        tweets: list[Tweet] = []
        followed, departed = stretch.shown, self._departed
        size = wanted
        while new and len(tweets) < wanted:
            chunk, new = new[:size], new[size:]
            bodies = stretch.bodies(chunk)
            found = [bodies[tweet_id] for tweet_id in chunk if tweet_id in bodies]
            shown = [tweet for tweet in found if tweet.author_id in followed and tweet.author_id not in departed]
            stretch.descent.looked_at += len(chunk)
            stretch.descent.showed += len(shown)
            if confirmation:
                asked, shown = len(shown), confirmation.keep(shown)
                size = max(size, AT_ONCE) if len(shown) < asked else size  # many have left: ask about more together
            if len(shown) < len(found):
                stretch.descent.hidden.update({it.tweet_id for it in found} - {it.tweet_id for it in shown})
            tweets += shown
        return tweets[:wanted]
