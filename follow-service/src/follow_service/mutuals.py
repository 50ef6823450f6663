"""Who follows somebody among those whom another follows, and who are friends. Pure: no I/O.

Rule: the candidates come from the shorter of two lists, whom one follows or who follows the other; nobody follows more
than a few thousand, so any two are bounded. Whoever is shown is confirmed: both follows are in the table itself.
Friends are the case in which both are the same person.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from follow_service.follows import Edge
from follow_service.lists import Listed, Lists, Page, Row, fill, from_cursor, readings, to_cursor, visible
from follow_service.people import People, check_open

FIRST = 100  # candidates of the first reading
LOOKED_AT = 5_000  # candidates at which a request looks no further
MARKS = {">": Listed.FOLLOWING, "<": Listed.FOLLOWERS}


class Follows(Lists, Protocol):
    """What must be known of follows."""

    def among(self, edges: Collection[Edge]) -> set[Edge]:
        """Return those of these edges that there are, strongly consistent."""


def page(
    follows: Follows,
    people: People,
    user_id: str,
    other_id: str,
    viewer_id: str,
    limit: int,
    cursor: str | None,
    *,
    ties: bool = False,
) -> tuple[Page, str | None]:
    """Return a page of other's followers whom the user follows, and its next cursor."""
    user = check_open(people, viewer_id, user_id)
    other = check_open(people, viewer_id, other_id) if other_id != user_id else user
    after, mark = from_cursor(cursor, MARKS)
    if after is None:
        mark = ">" if user.profile.following_count <= other.profile.followers_count else "<"
    whose = user_id if mark == ">" else other_id
    candidates = readings(follows, MARKS[mark], whose, FIRST, LOOKED_AT, after)
    both = ((_both(follows, user_id, other_id, rows, mark), rest) for rows, rest in candidates)
    found = fill(both, visible(people, viewer_id, blocked=False, ties=ties), limit)
    return found, to_cursor(found.rest, mark)


def _both(follows: Follows, user_id: str, other_id: str, rows: Sequence[Row], mark: str) -> list[Row]:
    """Return those whom the user follows and who follow the other; the edge that is not listed rules most out."""
    left = [row for row in rows if row.user_id not in (user_id, other_id)]
    for to_other in (mark == ">", mark == "<"):
        edges = {row: Edge(row.user_id, other_id) if to_other else Edge(user_id, row.user_id) for row in left}
        there = follows.among(edges.values())
        left = [row for row in left if edges[row] in there]
    return left
