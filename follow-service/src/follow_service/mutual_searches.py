"""What is kept of searches for mutual followers, beside the tables: who was found, and where a search goes on. Pure.

| key | type | content | lives |
|---|---|---|---|
| `mutuals:{USER}:OTHER` | string | a search for whom USER follows and who follow OTHER | 10 minutes, or 24 hours |

Rule: candidates are kept, not answers. For each page they are confirmed in the tables, and it is asked anew whom the
caller may see: a kept search shows nobody whom a new one would not. It may lack who followed after it began, or was not
in the index by then; its age says how long ago that was.
Rule: a search lives for 10 minutes, or for 24 hours from its beginning once its first page is asked for again. Who goes
through many pairs asks for each first page once, and what is kept of that is forgotten soon.
Rule: a search is kept from the top of the list that it goes through, without a hole. A cursor that it does not contain
begins another search, which is not kept.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from follow_service.lists import Row
from murmuration_runtime.errors import StoreAwayError

DEAR = 10_000  # followers: of whoever has more a search is worth keeping: many ask, and a page may read 5,000 keys
SECONDS = 86_400
FIRST_SECONDS = 600  # that a search is kept which nobody has asked for again
MOST = 1_000  # people who are kept of a search; where there are more, a few candidates fill a page
_SECOND = 1_000  # ms
HIT, MISS, AWAY = "hit", "miss", "away"


class Pair(NamedTuple):
    """Who follows, and who is followed: mutual followers stand between them."""

    user_id: str
    other_id: str


@dataclass
class Search:
    """Who was found of a pair down to a place in the list of candidates. One thread uses it."""

    mark: str  # which list is gone through
    began_at: int  # ms
    found: list[Row] = field(default_factory=list)
    rest: Row | None = None  # the candidate after which it goes on; None at the top, and when all were looked at
    is_whole: bool = False
    is_asked_again: bool = False
    has_changed: bool = False

    def knows(self, after: Row | None, mark: str) -> bool:
        """Say whether a page that begins after this row can be read from here."""
        return after is None or (mark == self.mark and (after == self.rest or after in self.found))

    def below(self, after: Row | None) -> Sequence[Row]:
        """Return who was found after a row."""
        if after in self.found:
            return self.found[self.found.index(after) + 1 :]
        return self.found if after is None else []

    def add(self, found: Sequence[Row], rest: Row | None) -> None:
        """Add who was found down to the next place, as far as there is room."""
        if room := MOST - len(self.found):
            self.found += found[:room]
            is_cut = len(found) > room
            self.rest = self.found[-1] if is_cut else rest
            self.is_whole = self.rest is None
            self.has_changed = True

    def age(self, now: int) -> int:
        """Return how many seconds ago it began; never below 0, for clocks differ."""
        return max(0, (now - self.began_at) // _SECOND)


class Store(Protocol):
    """Where searches are kept. Each call may raise StoreAwayError, and any search may be forgotten at any time."""

    def get(self, pair: Pair) -> Search | None:
        """Return what is kept of a pair."""

    def put(self, pair: Pair, search: Search, seconds: int) -> None:
        """Keep a search for so long, in the place of any other."""


class KeptSearches:
    """The kept searches of pairs whose other has many followers; none without a store, or while it is away."""

    def __init__(self, store: Store | None, count: Callable[[str, str, int], object], dear: int = DEAR) -> None:
        """count: is told what was looked for, whether it was kept, and how many.

        dear: more followers than this are many.
        """
        self._store = store
        self._count = count
        self._dear = dear

    def find(self, pair: Pair, followers_count: int, *, is_first_page: bool) -> Search | None:
        """Return what is kept of a pair; for its first page, it is asked for again."""
        if self._store is None or followers_count <= self._dear:
            return None
        try:
            found = self._store.get(pair)
        except StoreAwayError:
            self._count("mutuals", AWAY, 1)
            return None
        self._count("mutuals", HIT if found else MISS, 1)
        if found and is_first_page and not found.is_asked_again:
            found.is_asked_again = found.has_changed = True
        return found

    def keep(self, pair: Pair, followers_count: int, search: Search, now: int) -> None:
        """Keep a search that has grown, or was asked for again just now; it never lives longer than its day."""
        left = (SECONDS if search.is_asked_again else FIRST_SECONDS) - search.age(now)
        if self._store and followers_count > self._dear and search.has_changed and left > 0:
            with suppress(StoreAwayError):  # the next page searches for itself
                self._store.put(pair, search, left)


def to_text(search: Search) -> str:
    """Write what is kept of a search."""
    rows = _row(search.rest), [_row(each) for each in search.found]
    told = search.mark, search.began_at, search.is_whole, search.is_asked_again, *rows
    return json.dumps(told, separators=(",", ":"))


def from_text(text: str) -> Search:
    """Read what to_text wrote."""
    mark, began_at, is_whole, is_asked_again, rest, found = json.loads(text)
    rows = [Row(*each) for each in found], Row(*rest) if rest else None
    return Search(mark, began_at, *rows, is_whole, is_asked_again)


def key(pair: Pair) -> str:
    """Name what is kept of a pair."""
    return f"mutuals:{{{pair.user_id}}}:{pair.other_id}"


def _row(row: Row | None) -> tuple[str, int] | None:
    return (row.user_id, row.at) if row else None
