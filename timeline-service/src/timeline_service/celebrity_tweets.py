"""What celebrities said, whose tweets are not pushed: readers merge their own timelines.

Rule: what is the same for every reader is held in the process, and each page asks the cache whether it has changed: so
no page lacks what another one showed, whichever process that was. What is held is dropped together now and then. Of
whom the cache does not say anything, because their node is away, the database says it: all else is served as always.
"""

from collections.abc import Callable, Collection, Mapping

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.merge import Run
from murmuration_timelines.redis_timelines import CachedTimelines, Held
from murmuration_timelines.shown import Shown
from timeline_service.builder import Builder, chunks
from timeline_service.celebrity_reads import CelebrityReads

HELD_SECONDS = 30.0


class CelebrityTweets:
    """From the process, from the cache, and from the database where that is cold. Safe among threads."""

    def __init__(
        self,
        celebrities: Callable[[Shown], Collection[str]],
        cached: CachedTimelines,
        builder: Builder,
        reads: CelebrityReads,
        wave: int,
        clock: Callable[[], float],
    ) -> None:
        """celebrities: those among whom a timeline shows. wave: how many timelines the cache is asked for at once.

        clock: never steps back.
        """
        self._celebrities = celebrities
        self._cached = cached
        self._builder = builder
        self._reads = reads
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
            known = self._look({author_id: held.get(author_id) for author_id in some}, count)
            warm = {author_id: one for author_id, one in known.items() if one}
            held.update(warm)
            runs |= {author_id: one.timeline for author_id, one in warm.items()}
            if cold := known.keys() - warm:
                runs |= self._builder.authors(cold)
            if silent := [author_id for author_id in some if author_id not in known]:
                runs |= self._reads.runs(silent, count)
        return [*runs.values()]

    def _look(self, held: Mapping[str, Held | None], count: int | None) -> Mapping[str, Held | None]:
        """Return what the cache says of each, of those whose node answers."""
        try:
            return self._cached.look(held, count)
        except RedisAwayError:  # one node has them all
            return {}
