"""What celebrities said, whose tweets are not pushed: readers merge their own timelines.

Rule: what is the same for every reader is held in the process, and each page asks the cache whether it has changed: so
no page lacks what another one showed, whichever process that was. What is held is dropped together now and then.
"""

from collections.abc import Callable, Collection

from murmuration_timelines.merge import Run
from murmuration_timelines.redis_timelines import CachedTimelines, Held
from murmuration_timelines.shown import Shown
from timeline_service.builder import Builder, chunks

HELD_SECONDS = 30.0


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
        self._held: dict[str, Held] = {}
        self._until = 0.0

    def runs(self, shown: Shown, count: int | None) -> list[Run]:
        """Return what each celebrity among the shown said, or about so much of it; many take several waves."""
        if (now := self._clock()) >= self._until:
            self._held, self._until = {}, now + HELD_SECONDS
        held, runs = self._held, dict[str, Run]()
        for some in chunks(self._celebrities(shown), self._wave):
            warm = self._cached.look({author_id: held.get(author_id) for author_id in some}, count)
            held.update(warm)
            runs |= {author_id: one.timeline for author_id, one in warm.items()}
            if cold := [author_id for author_id in some if author_id not in warm]:
                runs |= self._builder.authors(cold)
        return [*runs.values()]
