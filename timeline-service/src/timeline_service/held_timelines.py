"""The newest of home timelines, held in the process for their readers' next pages.

Rule: each page asks Redis whether the held timeline is still as it stands there, and uses it only if so; so no process
shows an older one than another has shown. Of one that has changed the newest ids are sent again,
and whom it shows only if its head is another. The one that was read longest ago is dropped first.
"""

import threading
from dataclasses import replace

from murmuration_timelines.merge import Timeline
from murmuration_timelines.redis_timelines import CachedTimelines, Held

MOST_BYTES = 32_000_000
_ID_BYTES = 80  # of an id of 19 digits, as Python has it
_OTHER_BYTES = 1_000  # of a timeline without ids


class HeldTimelines:
    """Safe among threads."""

    def __init__(self, cached: CachedTimelines, most_bytes: int = MOST_BYTES) -> None:
        self._cached = cached
        self._most_bytes = most_bytes
        self._held: dict[str, Held] = {}  # in the order in which they were read
        self._bytes = 0
        self._changing = threading.Lock()

    def newest(self, user_id: str, count: int) -> Timeline | None:
        """Return a timeline as it is now, with so many of its newest ids; None if it is cold."""
        now = self._cached.look({user_id: self._held.get(user_id)}, count)[user_id]
        with self._changing:
            if was := self._held.pop(user_id, None):
                self._bytes -= _size(was.timeline)
            if now:
                self._held[user_id] = now
                self._bytes += _size(now.timeline)
            while self._bytes > self._most_bytes:
                self._bytes -= _size(self._held.pop(next(iter(self._held))).timeline)
        return _cut(now.timeline, count) if now else None


def _cut(timeline: Timeline, count: int) -> Timeline:
    ids = timeline.ids
    return replace(timeline, ids=ids[:count], floor=ids[count - 1]) if len(ids) > count else timeline


def _size(timeline: Timeline) -> int:
    return _OTHER_BYTES + len(timeline.shown.digests) + _ID_BYTES * len(timeline.ids)
