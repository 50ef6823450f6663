"""Who follows somebody among those whom another follows, and who are friends. Pure: no I/O.

Rule: the candidates come from the shorter of two lists, whom one follows or who follows the other; nobody follows more
than a few thousand, so any two are bounded. Whoever is shown is confirmed: both follows are in the table itself.
Friends are the case in which both are the same person. A page of a pair that is dear to search goes on with what an
earlier one has found: mutual_searches.py.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

from follow_service.follows import Edge
from follow_service.lists import (
    FEWEST,
    Listed,
    Lists,
    Page,
    Reading,
    Row,
    fill,
    from_cursor,
    readings,
    to_cursor,
    visible,
)
from follow_service.mutual_searches import KeptSearches, Pair, Search
from follow_service.people import People, check_open

FIRST = 100  # candidates of the first reading
LOOKED_AT = 5_000  # candidates at which a request looks no further
MARKS = {">": Listed.FOLLOWING, "<": Listed.FOLLOWERS}


class Follows(Lists, Protocol):
    """What must be known of follows."""

    def among(self, edges: Collection[Edge]) -> set[Edge]:
        """Return those of these edges that there are, strongly consistent."""


class Found(NamedTuple):
    """A page, its next cursor, and how many seconds ago began the search that it comes from; None if just now."""

    page: Page
    next_cursor: str | None
    age: int | None


def page(
    follows: Follows,
    searches: KeptSearches,
    people: People,
    pair: Pair,
    viewer_id: str,
    limit: int,
    cursor: str | None,
    now: int,
    *,
    ties: bool = False,
) -> Found:
    """Return a page of other's followers whom the user follows."""
    user = check_open(people, viewer_id, pair.user_id)
    other = check_open(people, viewer_id, pair.other_id) if pair.other_id != pair.user_id else user
    after, mark = from_cursor(cursor, MARKS)
    followers = other.profile.followers_count
    kept = searches.find(pair, followers, is_first_page=after is None)
    if kept and not kept.knows(after, mark):
        kept = None
    if after is None:
        mark = ">" if user.profile.following_count <= followers else "<"
    search = kept or Search(mark, now, rest=after)
    confirmed = _confirmed(follows, pair, search, after, max(limit + 1, FEWEST))
    found = fill(confirmed, visible(people, viewer_id, blocked=False, ties=ties), limit)
    if kept or after is None:
        searches.keep(pair, followers, search, now)
    return Found(found, to_cursor(found.rest, search.mark), kept.age(now) if kept else None)


def _confirmed(follows: Follows, pair: Pair, search: Search, after: Row | None, first: int) -> Iterator[Reading]:
    """Give who was found below a row and is still there, then who is found further down, which is added."""
    known, looked_at = search.below(after), 0
    while some := known[looked_at : looked_at + max(first, looked_at)]:
        looked_at += len(some)
        yield _both(follows, pair, some, search.mark), some[-1] if looked_at < len(known) else search.rest
    if search.is_whole:
        return
    whose = pair.user_id if search.mark == ">" else pair.other_id
    for rows, rest in readings(follows, MARKS[search.mark], whose, FIRST, LOOKED_AT - looked_at, search.rest):
        found = _both(follows, pair, rows, search.mark)
        search.add(found, rest)
        yield found, rest


def _both(follows: Follows, pair: Pair, rows: Sequence[Row], mark: str) -> list[Row]:
    """Return those whom the user follows and who follow the other; the edge that is not listed rules most out."""
    left = [row for row in rows if row.user_id not in pair]
    for to_other in (mark == ">", mark == "<"):
        edges = {row: Edge(row.user_id, pair.other_id) if to_other else Edge(pair.user_id, row.user_id) for row in left}
        there = follows.among(edges.values())
        left = [row for row in left if edges[row] in there]
    return left
