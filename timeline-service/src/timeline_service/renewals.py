"""Warm timelines are compared with the tables now and then, and built anew where they differ or are old.

Rule: nothing derived lives for ever. A timeline that is read is compared about once a day, by one of all processes:
whom it shows with whom its reader follows and has not muted. If that differs, and in any case when it gets old, it is
built anew, and the old one serves until it is replaced. heads.py says when. Nobody waits for it, and a process looks at
one at a time; who is not looked at now is when they read the next page. A timeline of which a page dropped more than
half is built anew at once: each page would pay for the ids that do not show.
"""

from collections.abc import Callable
from functools import partial

from murmuration_timelines.heads import Head
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from timeline_service.authors import Authors
from timeline_service.background_work import BackgroundWork, in_a_thread

MOST_DROPPED = 0.5  # of a timeline that is not built anew
PAUSE_SECONDS = 300.0  # until one that was built anew for that may be so again: it may have been in vain
MOST_REMEMBERED = 10_000  # readers


class Renewals:
    """Safe among threads."""

    def __init__(
        self,
        cache: TimelineReader,
        authors: Authors,
        read: Callable[[str], Timeline],
        count: Callable[[str], object],
        now: Callable[[], float],
        start: Callable[[Callable[[], object]], object] = in_a_thread,
    ) -> None:
        """read: gathers a user's timeline from the database. count: is told what came of each comparison.

        That is `same`, or `differed`, `old` or `dropped`; `overtaken` where a follow changed meanwhile.
        """
        self._cache = cache
        self._authors = authors
        self._read = read
        self._count = count
        self._now = now
        self._work = BackgroundWork("a timeline was not compared", start)
        self._pauses: dict[str, float] = {}

    def look(self, user_id: str, timeline: Timeline, dropped: float = 0) -> None:
        """Have a warm timeline compared if it is due, or built anew if a page dropped too great a share of it."""
        head, now = timeline.head, self._now()
        is_useless = dropped > MOST_DROPPED and self._pauses.get(user_id, now) <= now
        if head and (is_useless or head.is_due(now)):
            self._work.begin(partial(self._compare, user_id, head, is_useless=is_useless))

    def _pause(self, user_id: str) -> None:
        if len(self._pauses) >= MOST_REMEMBERED:
            self._pauses.clear()
        self._pauses[user_id] = self._now() + PAUSE_SECONDS

    def _compare(self, user_id: str, head: Head, *, is_useless: bool) -> None:
        """Load the timeline before anything else is read: what changes from then on has the last word."""
        if is_useless:
            self._pause(user_id)
        home = self._cache.home
        is_ours = is_useless or home.take_turn(user_id, head)
        if not is_ours or (was := home.load([user_id]).get(user_id)) is None:
            return
        outcome = "dropped" if is_useless else self._difference(user_id, head, was)
        if outcome != "same" and not home.replace(user_id, was, self._read(user_id)):
            outcome = "overtaken"
        self._count(outcome)

    def _difference(self, user_id: str, head: Head, was: Timeline) -> str:
        """Tell whether a timeline is as the tables say."""
        shown = Shown.of(self._authors.of(user_id, self._cache.noted(user_id)))
        return "old" if head.is_old(self._now()) else "same" if was.shown == shown else "differed"
