"""People and their lists as they were a moment ago, from what is kept; and from the tables, whatever is not. Pure.

Rule: only what is shown of others lags. Who asks for themselves, or for their ties, is answered from the tables, as is
everybody while the cache is away. What people change of their own accounts shows to others at once. What was read is
kept for the next one; nobody waits to see that it is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Protocol

from follow_service.cache import Cache, Kind, Known, Member, Newest, State, corrected, first
from follow_service.lists import Listed, Lists, Row
from follow_service.people import People, Seen
from follow_service.profiles import OwnProfile, Profiles
from murmuration_runtime import deadlines
from murmuration_runtime.errors import StoreAwayError

Count = Callable[[str, str, int], None]  # of what, with which outcome, and how often
KINDS = {Listed.FOLLOWERS: Kind.FOLLOWERS, Listed.FOLLOWING: Kind.FOLLOWING}
SPARE_SECONDS = 1.2  # of a request: with less it reads the little that it shows
HIT, MISS, AWAY = "hit", "miss", "away"


class Adjacency(Protocol):
    """What is read of the tables in order to be kept."""

    def people(
        self, user_ids: Collection[str], pairs: Iterable[tuple[str, str]]
    ) -> tuple[Mapping[str, State], set[tuple[str, str]]]:
        """Return those of these people who ever were somebody, and which of these block, strongly consistent."""

    def newest(self, kind: Kind, owner_id: str) -> Newest:
        """Return as much of a list as is kept, from an index, which lags."""

    def at(self, members: Iterable[Member]) -> Mapping[Member, int | None]:
        """Return since when each is in its list, None if they are not, strongly consistent."""


class CachedPeople:
    """The People of the graph, as they were a moment ago."""

    def __init__(self, cache: Cache, tables: Adjacency, people: People, count: Count) -> None:
        self._cache = cache
        self._tables = tables
        self._people = people
        self._count = count

    def seen_with_ties(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return what the tables say."""
        return self._people.seen_with_ties(viewer_id, user_ids)

    def seen(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return what is kept of others who are somebody, and what the tables say of everybody else and of the viewer.

        An id that nobody has is never kept. So who blocks the viewer, and who is gone, costs the same reading, and is
        refused as they are while the tables are away.
        """
        return self._look(viewer_id, user_ids, by_name=True)

    def seen_in_list(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return what is kept of others, as far as it is, and what the tables say of the viewer."""
        return self._look(viewer_id, user_ids, by_name=False)

    def _look(self, viewer_id: str, user_ids: Collection[str], *, by_name: bool) -> Mapping[str, Seen]:
        others = [user_id for user_id in user_ids if user_id != viewer_id]
        found = {**self._people.seen(viewer_id, [viewer_id])} if len(others) < len(user_ids) else {}
        if not others:
            return found
        try:
            known = self._cache.look(viewer_id, others)
        except StoreAwayError:
            self._count("profiles", AWAY, len(others))
            return {**found, **self._people.seen(viewer_id, others)}
        has_blocks = bool(known.certain)
        if by_name:
            known = _of_somebody(viewer_id, known)
        missing = [each for each in others if each not in known.states or each not in known.certain]
        self._count("profiles", HIT, len(others) - len(missing))
        if missing:
            self._count("profiles", MISS, len(missing))
            known = self._read(viewer_id, others, missing, known)
            if not has_blocks:
                self._fill_blocks(viewer_id)
        return {**found, **_seen(viewer_id, others, known)}

    def _read(self, viewer_id: str, others: Collection[str], missing: Collection[str], known: Known) -> Known:
        """Return what is known when the tables were asked for what was missing, and keep that."""
        unknown = [each for each in missing if each not in known.states]
        uncertain = [each for each in missing if each not in known.certain]
        pairs = [pair for each in uncertain for pair in ((viewer_id, each), (each, viewer_id))]
        states, blocks = self._tables.people(unknown, pairs)
        with suppress(StoreAwayError):
            self._cache.keep(states.values())
        return Known({**known.states, **states}, known.blocks | blocks, others)

    def _fill_blocks(self, viewer_id: str) -> None:
        with suppress(StoreAwayError):
            for kind in (Kind.BLOCKING, Kind.BLOCKED):
                fill(self._cache, self._tables, kind, viewer_id)


class CachedProfiles:
    """The Profiles of the tables. What people change of their own shows at once, unless the cache is away."""

    def __init__(self, cache: Cache, tables: Adjacency, profiles: Profiles) -> None:
        self._cache = cache
        self._tables = tables
        self._profiles = profiles
        self.own, self.account = profiles.own, profiles.account

    def save(
        self, user_id: str, display_name: str, is_private: bool | None, discoverable: bool | None, now: int
    ) -> OwnProfile | None:
        """Change it, and keep what the table says."""
        saved = self._profiles.save(user_id, display_name, is_private, discoverable, now)
        self._keep(user_id)
        return saved

    def delete(self, user_id: str, now: int) -> None:
        """Delete it, and keep what the table says."""
        self._profiles.delete(user_id, now)
        self._keep(user_id)

    def _keep(self, user_id: str) -> None:
        """Keep a state whose version is later than that of all that was read before."""
        with suppress(StoreAwayError):  # the keeper hears of it anyway
            states, _ = self._tables.people([user_id], [])
            self._cache.keep(states.values())


class CachedLists:
    """The Lists of the graph, whose first rows are kept of followers and followees."""

    def __init__(self, cache: Cache, tables: Adjacency, lists: Lists, count: Count) -> None:
        self._cache = cache
        self._tables = tables
        self._lists = lists
        self._count = count

    def rows(self, listed: Listed, user_id: str, most: int, after: Row | None) -> tuple[list[Row], Row | None]:
        """Return the first rows from what is kept, and all others from the index."""
        if after is None and listed in KINDS:
            newest = self._newest(KINDS[listed], user_id, most + 1)
            if newest and (shown := first(newest, most)):
                return shown
        return self._lists.rows(listed, user_id, most, after)

    def _newest(self, kind: Kind, owner_id: str, most: int) -> Newest | None:
        try:
            newest = self._cache.newest(kind, owner_id, most)
        except StoreAwayError:
            self._count(kind.value, AWAY, 1)
            return None
        self._count(kind.value, HIT if newest else MISS, 1)
        with suppress(StoreAwayError):
            if newest is None and (filled := fill(self._cache, self._tables, kind, owner_id)):
                return Newest(filled.rows[:most], filled.whole and len(filled.rows) <= most)
        return newest


def fill(cache: Cache, tables: Adjacency, kind: Kind, owner_id: str) -> Newest | None:
    """Read a list and keep it; None if somebody else does, or whoever asks has no time for it."""
    if not deadlines.allows(SPARE_SECONDS):
        return None
    begun = cache.begin(kind, owner_id)
    if begun is None:
        return None
    newest = tables.newest(kind, owner_id)
    noted = tables.at(Member(kind, owner_id, user_id) for user_id in begun.noted)
    newest = corrected(newest, {each.user_id: at for each, at in noted.items()})
    cache.commit(kind, owner_id, begun, newest)
    return newest


def _of_somebody(viewer_id: str, known: Known) -> Known:
    """Return what is known of those who are somebody to the viewer."""
    seen = _seen(viewer_id, known.states, known)
    blocks = {(who, whom) for who, whom in known.blocks if whom in seen}
    return Known({each: known.states[each] for each in seen}, blocks, seen.keys() & known.certain)


def _seen(viewer_id: str, user_ids: Iterable[str], known: Known) -> dict[str, Seen]:
    return {
        user_id: Seen(state.profile, (viewer_id, user_id) in known.blocks)
        for user_id in user_ids
        if (state := known.states.get(user_id)) and state.profile and (user_id, viewer_id) not in known.blocks
    }
