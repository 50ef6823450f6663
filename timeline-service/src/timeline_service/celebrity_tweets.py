"""What celebrities said, whose tweets are not pushed: readers merge their own timelines.

Rule: what is the same for every reader is held in the process, and each page asks the cache whether it has changed: so
no page lacks what another one showed, whichever process that was. What is held is dropped together now and then. Of
whom the cache does not have anything, because their list is cold or their node away, the database says it, once for all
readers; a cold list is built beside the requests, so no page waits for that, nor for a Redis that refuses writes.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial

from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.redis_timelines import Held
from murmuration_timelines.shown import Shown
from timeline_service.background_work import BackgroundWork
from timeline_service.builder import Builder, chunks
from timeline_service.celebrity_reads import CelebrityReads

HELD_SECONDS = 30.0
PAUSE_SECONDS = 1.0  # until a list is tried again: another process may be building it, or Redis refuses writes


class CelebrityTweets:
    """From the process, from the cache, and from the database where that has nothing. Safe among threads."""

    def __init__(
        self,
        celebrities: Callable[[Shown], Collection[str]],
        cache: TimelineReader,
        builder: Builder,
        reads: CelebrityReads,
        look: Callable[[Mapping[str, Held]], object],
        work: BackgroundWork,
        wave: int,
        clock: Callable[[], float],
    ) -> None:
        """celebrities: those among whom a timeline shows. wave: how many timelines the cache is asked for at once.

        look: is told of the warm lists that are read. work: where cold ones are built. clock: never steps back.
        """
        self._celebrities = celebrities
        self._cache = cache
        self._builder = builder
        self._reads = reads
        self._look = look
        self._work = work
        self._wave = wave
        self._clock = clock
        self._held: dict[str, Held] = {}
        self._until = 0.0
        self._tried: frozenset[str] = frozenset()
        self._tried_until = 0.0

    def runs(self, shown: Shown, count: int | None) -> list[Run]:
        """Return what each celebrity among the shown said, or about so much of it; many take several waves."""
        if not (celebrities := self._celebrities(shown)):
            return []
        if (now := self._clock()) >= self._until:
            self._held, self._until = {}, now + HELD_SECONDS
        held, known = self._held, dict[str, Held | None]()
        for some in chunks(celebrities, self._wave):
            known |= self._cached({author_id: held.get(author_id) for author_id in some}, count)
        warm = {author_id: one for author_id, one in known.items() if one}
        held.update(warm)
        self._look(warm)
        runs: list[Run] = [one.timeline for one in warm.values()]
        if len(warm) < len(celebrities):
            if cold := frozenset(known.keys() - warm):
                self._build(cold)
                runs += self._recent(cold)
            for some in chunks((each for each in celebrities if each not in warm), self._wave):
                runs += self._reads.runs(some, count).values()
        return runs

    def _cached(self, held: Mapping[str, Held | None], count: int | None) -> Mapping[str, Held | None]:
        """Return what the cache says of each, of those whose node answers."""
        try:
            return self._cache.authors.look(held, count)
        except RedisAwayError:  # one node has them all
            return {}

    def _build(self, cold: frozenset[str]) -> None:
        """Have those lists built that were not tried lately."""
        if (now := self._clock()) >= self._tried_until:
            self._tried, self._tried_until = frozenset(), now + PAUSE_SECONDS
        new = cold - self._tried
        if new and self._work.begin(partial(self._builder.authors, new)):
            self._tried |= new

    def _recent(self, author_ids: frozenset[str]) -> list[Run]:
        """Return what the index may not have yet, nor who read it for all; other pages may have shown it."""
        with suppress(RedisAwayError):
            return [Run(sorted(self._cache.recent(author_ids), reverse=True), BEGINNING)]
        return []
