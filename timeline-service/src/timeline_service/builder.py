"""Timelines built from the database, and put into the cache.

Rule: first the mark, then everything that is read. A tweet that arrives after the mark lands above it and is merged in;
one that arrived before is among its author's recent ones. A follow that changes after the mark changes it, so that
nothing is kept before whom the user follows was read again; one that changed before is in the table, or among the notes
where the index lags. While the mark is there, whoever was read need not be read again: what they say arrives.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from timeline_service.places import Places
from timeline_service.stores import Archive, Cache
from timeline_service.timeline import BEGINNING, CAP, TOP, Run, Timeline, behind, union

ATTEMPTS = 16
CHUNK = 128  # authors that are read between two renewals of a mark
FEW = 16  # ids that are read of an author at the least: fewer cost the database as much


class Building:
    """Timelines and runs of ids from the database. Safe among threads."""

    def __init__(self, cache: Cache, archive: Archive, places: Places, cap: int = CAP, few: int = FEW) -> None:
        """Take the stores, the door that bounds how much is built at once, and the sizes."""
        self._cache = cache
        self._archive = archive
        self._places = places
        self._cap = cap
        self._few = few

    def home(self, user_id: str) -> Timeline:
        """Build a home timeline, celebrities' tweets included, unless another was faster."""
        home, token = self._cache.home, None
        with self._places.one():
            for _ in range(ATTEMPTS):
                if token is None or not home.renew(user_id, token, look_again=True):
                    token, known, runs = home.begin(user_id), frozenset[str](), list[Run]()
                if token is None and (warm := home.load([user_id])):
                    return warm[user_id]
                following = self._archive.followees(user_id, self._cache.noted(user_id)) | {user_id}
                if new := following - known:
                    renew = partial(home.renew, user_id, token) if token else bool
                    runs.append(self.gathered(new, TOP, self._cap, renew))
                    known |= new
                timeline = self._complete(union(runs, count=self._cap), following)
                if token is None or home.commit(user_id, token, timeline):
                    break
            return timeline

    def authors(self, author_ids: Iterable[str]) -> dict[str, Timeline]:
        """Build the timelines of authors alone."""
        with self._places.one():
            tokens = {author_id: self._cache.authors.begin(author_id) for author_id in author_ids}
            runs = self._archive.ids(dict.fromkeys(tokens, TOP), self._cap)
            built = {author_id: self._complete(runs[author_id], frozenset({author_id})) for author_id in tokens}
            for author_id, token in tokens.items():
                if token:
                    self._cache.authors.commit(author_id, token, built[author_id])
            return built

    def gathered(self, author_ids: Iterable[str], below: str, count: int, renew: Callable[[], object] = bool) -> Run:
        """Gather the newest so many ids of these authors, and those below that came with them."""
        wanted = dict.fromkeys(author_ids, below)
        share = min(max(2 * count // len(wanted), self._few), count)
        runs: dict[str, Run] = {}
        while wanted:
            for some in chunks(wanted, CHUNK):
                found = self._archive.ids({author_id: wanted[author_id] for author_id in some}, share)
                for author_id, run in found.items():
                    above = runs[author_id].ids if author_id in runs else []
                    runs[author_id] = Run([*above, *run.ids], run.floor)
                renew()
            wanted = behind(runs, count)
            share = min(4 * share, count)
        return union(runs.values(), count=max(count, self._cap))

    def _complete(self, run: Run, authors: frozenset[str]) -> Timeline:
        """Add what the index may not have yet."""
        recent = Run(sorted({*self._cache.recent(authors)}, reverse=True), BEGINNING)
        whole = union([run, recent], count=self._cap)
        return Timeline(whole.ids, whole.floor, authors)


def chunks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Cut a long sequence into pieces."""
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece
