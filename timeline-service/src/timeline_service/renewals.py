"""Warm timelines are compared with the tables now and then, and built anew where they differ or are old.

Rule: nothing derived lives for ever. A timeline that is read is compared about once a day, by one of all processes: a
home timeline by whom it shows, with whom its reader follows and has not muted; a celebrity's own list by its ids. If
that differs, and in any case when it gets old, it is built anew, and the old one serves until it is replaced. heads.py
says when. Nobody waits for it, and a process looks at one at a time; what is not looked at now is when the next page
reads it. A home timeline of which a page dropped more than half is built anew at once: each page would pay for the ids
that do not show.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from murmuration_timelines.heads import Head
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.redis_timelines import CachedTimelines, Held
from murmuration_timelines.shown import Shown
from timeline_service.authors import Authors
from timeline_service.background_work import BackgroundWork, in_a_thread
from timeline_service.builder import Builder
from timeline_service.since_mark import settled_id

MOST_DROPPED = 0.5  # of a timeline that is not built anew
PAUSE_SECONDS = 300.0  # until one that was built anew for that may be so again: it may have been in vain
MOST_REMEMBERED = 10_000  # readers


class Kind(NamedTuple):
    """Where timelines of a kind are, whether one is as the tables say, and how it is read from them."""

    cached: CachedTimelines
    agrees: Callable[[str, Timeline], bool]
    read: Callable[[str], Timeline]


class Renewals:
    """Safe among threads."""

    def __init__(
        self,
        cache: TimelineReader,
        authors: Authors,
        builder: Builder,
        count: Callable[[str], object],
        now: Callable[[], float],
        start: Callable[[Callable[[], object]], object] = in_a_thread,
    ) -> None:
        """count: is told what came of each comparison.

        That is `same`, or `differed`, `old` or `dropped`; `overtaken` where a follow changed meanwhile.
        """
        self._cache = cache
        self._authors = authors
        self._builder = builder
        self._home = Kind(cache.home, self._shows_whom_it_should, builder.read)
        self._lists = Kind(cache.authors, self._lacks_nothing, builder.author)
        self._count = count
        self._now = now
        self._work = BackgroundWork("a timeline was not compared", start)
        self._pauses: dict[str, float] = {}

    def look(self, user_id: str, timeline: Timeline, dropped: float = 0) -> None:
        """Have a warm timeline compared if it is due, or built anew if a page dropped too great a share of it."""
        head, now = timeline.head, self._now()
        is_useless = dropped > MOST_DROPPED and self._pauses.get(user_id, now) <= now
        if head and (is_useless or head.is_due(now)):
            self._work.begin(partial(self._compare, self._home, user_id, head, is_useless=is_useless))

    def look_at_celebrities(self, lists: Mapping[str, Held]) -> None:
        """Have one of those celebrities' lists compared that are due."""
        now = self._now()
        for author_id, held in lists.items():
            if (head := held.timeline.head) and head.is_due(now):
                self._work.begin(partial(self._compare, self._lists, author_id, head))

    def _compare(self, kind: Kind, owner_id: str, head: Head, *, is_useless: bool = False) -> None:
        """Load the timeline before anything else is read: what changes from then on has the last word."""
        if is_useless:
            self._pause(owner_id)
        is_ours = is_useless or kind.cached.take_turn(owner_id, head)
        if not is_ours or (was := kind.cached.load([owner_id]).get(owner_id)) is None:
            return
        outcome = "dropped" if is_useless else self._difference(kind, owner_id, head, was)
        if outcome != "same" and not kind.cached.replace(owner_id, was, kind.read(owner_id)):
            outcome = "overtaken"
        self._count(outcome)

    def _difference(self, kind: Kind, owner_id: str, head: Head, was: Timeline) -> str:
        """Tell whether a timeline is as the tables say."""
        return "old" if head.is_old(self._now()) else "same" if kind.agrees(owner_id, was) else "differed"

    def _pause(self, user_id: str) -> None:
        if len(self._pauses) >= MOST_REMEMBERED:
            self._pauses.clear()
        self._pauses[user_id] = self._now() + PAUSE_SECONDS

    def _shows_whom_it_should(self, user_id: str, was: Timeline) -> bool:
        return was.shown == Shown.of(self._authors.of(user_id, self._cache.noted(user_id)))

    def _lacks_nothing(self, author_id: str, was: Timeline) -> bool:
        """Tell whether a list has what its author said, but for what may still be on its way to it."""
        settled = settled_id(self._now())
        said = {each for each in self._builder.author(author_id).ids if was.floor < each < settled}
        return said <= {*was.ids}
