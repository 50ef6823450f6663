"""What was read below the lists, kept for the next page: in Redis for any process, or in this one if Redis does not.

Rule: a reader who follows many pays for each read with a pause before the next one, so that they cost QUERIES_A_SECOND
in the mean, whatever cursors they make up.
"""

from collections.abc import Callable
from math import ceil

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.layout import READ_AHEAD_SECONDS
from murmuration_timelines.merge import Run
from murmuration_timelines.read_ahead import ReadAhead, authors_name
from murmuration_timelines.reader import TimelineReader
from timeline_service.rebuild_slots import BusyError
from timeline_service.since_mark import settled_id

MANY = 128  # authors
QUERIES_A_SECOND = 500
MOST_HELD = 256  # readers


class ReadsAhead:
    """Safe among threads."""

    def __init__(self, cache: TimelineReader, clock: Callable[[], float]) -> None:
        self._cache = cache
        self._clock = clock
        self._held: dict[str, tuple[float, ReadAhead]] = {}

    def find(self, user_id: str, authors: frozenset[str], below: str) -> Run | None:
        """Return what was read of these authors below an id; raise BusyError if it is too early to read anew."""
        now = self._clock()
        known = self._known(user_id, now) if below < settled_id(now) else None
        part = known.part(authors_name(authors), below) if known else None
        if known and part is None and len(authors) > MANY and known.next_at > now:
            raise BusyError("more was read far down than may be read at once", known.next_at - now)
        return part

    def keep(self, user_id: str, authors: frozenset[str], below: str, run: Run) -> ReadAhead:
        """Keep what was read just now below an id, if that is so old that all below it has arrived."""
        now = self._clock()
        next_at = ceil(now + len(authors) / QUERIES_A_SECOND)
        ahead = ReadAhead(authors_name(authors), next_at, below, run)
        if below < settled_id(now):
            self._keep(user_id, ahead, now)
        return ahead

    def _keep(self, user_id: str, ahead: ReadAhead, now: float) -> None:
        try:
            self._cache.keep_ahead(user_id, ahead)
        except RedisAwayError:
            if len(self._held) >= MOST_HELD:
                self._held.clear()
            self._held[user_id] = now + READ_AHEAD_SECONDS, ahead
        else:
            self._held.pop(user_id, None)

    def _known(self, user_id: str, now: float) -> ReadAhead | None:
        """Return what was kept last: a Redis that refuses writes answers all the same, and does not have it."""
        until, held = self._held.get(user_id, (now, None))
        if held and until > now:
            return held
        try:
            return self._cache.read_ahead(user_id)
        except RedisAwayError:
            return None
