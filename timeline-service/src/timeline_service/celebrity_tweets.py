"""What celebrities said, whose tweets are not pushed: readers merge their own timelines.

Rule: what is the same for every reader is held in the process for a second, and dropped together; so no page lacks what
another page of this process showed.
"""

from collections.abc import Callable, Collection

from murmuration_timelines.merge import Run
from murmuration_timelines.redis_timelines import CachedTimelines
from murmuration_timelines.shown import Shown
from timeline_service.builder import Builder, chunks

HELD_SECONDS = 1.0


class CelebrityTweets:
    """From the process, from the cache, and from the database where that is cold. Safe among threads."""

    def __init__(
        self,
        celebrities: Callable[[Shown], Collection[str]],
        cached: CachedTimelines,
        builder: Builder,
        wave: int,
        clock: Callable[[], float],
    ) -> None:
        """celebrities: those among whom a timeline shows. wave: how many timelines the cache is asked for at once.

        clock: never steps back.
        """
        self._celebrities = celebrities
        self._cached = cached
        self._builder = builder
        self._wave = wave
        self._clock = clock
        self._held: dict[str, tuple[float, Run]] = {}  # and how many ids were asked for
        self._until = 0.0

    def runs(self, shown: Shown, count: int | None) -> list[Run]:
        """Return what each celebrity among the shown said, or about so much of it; many take several waves."""
        if (now := self._clock()) >= self._until:
            self._held, self._until = {}, now + HELD_SECONDS
        held = self._held  # for this whole call, even if another thread begins a new one
        authors, asked = self._celebrities(shown), float("inf") if count is None else count
        missing = [author_id for author_id in authors if author_id not in held or held[author_id][0] < asked]
        for some in chunks(missing, self._wave):
            new: dict[str, Run] = {**self._cached.load(some, count)}
            if cold := [author_id for author_id in some if author_id not in new]:
                new |= self._builder.authors(cold)
            held.update((author_id, (asked, run)) for author_id, run in new.items())
        return [held[author_id][1] for author_id in authors]
