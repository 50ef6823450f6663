"""What celebrities said, from the database, while their lists are cold or the Redis node of these does not answer.

Rule: that is the same for every reader, so a process reads it once for all of them, and holds it for a second. Who asks
meanwhile waits for that read. So it costs a query for each such celebrity a second, however many read.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from murmuration_runtime import deadlines
from murmuration_timelines.layout import CAP
from murmuration_timelines.merge import TOP, Run
from timeline_service.builder import Tweets

HELD_SECONDS = 1.0


class Read(NamedTuple):
    """What was read of a celebrity, how many ids were asked for, and until when it is held."""

    run: Run
    asked: int
    until: float


class CelebrityReads:
    """Safe among threads."""

    def __init__(self, tweets: Tweets, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._tweets = tweets
        self._clock = clock
        self._reading = threading.Lock()
        self._held: Mapping[str, Read] = {}

    def runs(self, author_ids: Collection[str], count: int | None) -> dict[str, Run]:
        """Return so many of the newest ids of each, or as many as a list has, as they were within the last second."""
        asked = count or CAP
        held: Mapping[str, Read] = self._fresh(asked)
        if not held.keys() >= {*author_ids}:
            held = self._read(author_ids, asked)
        return {author_id: held[author_id].run for author_id in author_ids}

    def _read(self, author_ids: Collection[str], asked: int) -> Mapping[str, Read]:
        with deadlines.turn(self._reading, "reads what celebrities said"):
            held = self._fresh(asked)
            found = self._tweets.ids({each: TOP for each in author_ids if each not in held}, asked)
            until = self._clock() + HELD_SECONDS
            self._held = {**self._fresh(0), **{each: Read(run, asked, until) for each, run in found.items()}}
            return {**held, **self._held}

    def _fresh(self, asked: int) -> dict[str, Read]:
        """Return what is held and has so many ids."""
        now = self._clock()
        return {author_id: read for author_id, read in self._held.items() if read.until > now and read.asked >= asked}
