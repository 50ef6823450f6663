"""Lists of people in pages, newest first, of whom the viewer sees. Pure: no I/O.

Rule: a page is full, or the last, or as many rows were looked at as one request may: deleted accounts and blocks hide
rows, and a page goes on until it is full. A cursor is a place in the order, so what is added above it or taken away
moves nothing: who is in the list all the while is shown once.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from contracts.ids import is_user_id
from follow_service.people import People, Seen
from murmuration_edge import cursors

LOOKED_AT = 400  # rows at which a request looks no further
FEWEST = 25  # rows of one reading: the second of a page that lacks one would often be too few
_TIME = re.compile(r"[0-9]{1,15}")


class Listed(Enum):
    """What is listed of a user."""

    FOLLOWERS = "who follows them"
    FOLLOWING = "whom they follow"
    REQUESTS = "who asks to follow them"
    SENT = "whom they ask to follow"
    BLOCKS = "whom they block"
    MUTES = "whom they mute"


@dataclass(frozen=True)
class Row:
    """Somebody in a list, and since when; as a cursor: their place, whether or not they are still there."""

    user_id: str
    at: int


@dataclass(frozen=True)
class Page:
    """Some rows of a list with whom they show, and after which row it goes on."""

    rows: list[Row]
    people: list[Seen]
    rest: Row | None


class Lists(Protocol):
    """What must be known of lists."""

    def rows(self, listed: Listed, user_id: str, most: int, after: Row | None) -> tuple[list[Row], Row | None]:
        """Return so many rows at most, newest first, and after which row the list goes on; None at its end."""


Reading = tuple[Sequence[Row], Row | None]
Show = Callable[[Collection[str]], Mapping[str, Seen]]


def page(
    lists: Lists,
    people: People,
    listed: Listed,
    user_id: str,
    viewer_id: str,
    limit: int,
    cursor: str | None,
    *,
    ties: bool = False,
) -> tuple[Page, str | None]:
    """Return a page of a user's list as the viewer sees it, and its next cursor; with ties, if they are asked for."""
    after, _ = from_cursor(cursor)
    own = listed in (Listed.BLOCKS, Listed.MUTES)
    show = visible(people, viewer_id, blocked=own, ties=ties)
    found = fill(readings(lists, listed, user_id, max(limit + 1, FEWEST), LOOKED_AT, after), show, limit)
    return found, to_cursor(found.rest)


def visible(people: People, viewer_id: str, *, blocked: bool, ties: bool) -> Show:
    """Return what says who of some people is shown to the viewer: those whom they have blocked themselves, or not."""

    def show(user_ids: Collection[str]) -> Mapping[str, Seen]:
        found = (people.seen_with_ties if ties else people.seen_in_list)(viewer_id, user_ids)
        return {user_id: seen for user_id, seen in found.items() if blocked or not seen.blocking}

    return show


def readings(
    lists: Lists, listed: Listed, user_id: str, first: int, enough: int, after: Row | None
) -> Iterator[tuple[list[Row], Row | None]]:
    """Read on, each time as much as all the times before, until the list ends or enough was looked at."""
    looked_at = 0
    while looked_at < enough:
        most = max(first, looked_at)
        rows, after = lists.rows(listed, user_id, most, after)
        looked_at += most
        yield rows, after
        if after is None:
            return


def fill(read: Iterable[Reading], show: Show, limit: int) -> Page:
    """Return a page of those rows that are shown; short if as many were looked at as one request may."""
    found: dict[str, tuple[Row, Seen]] = {}  # by user: an index may name somebody twice who left and came again
    rest, looked_at = None, 0
    at_once = max(limit + 1, FEWEST)
    for rows, place in read:
        rest = place
        for start in range(0, len(rows), at_once):
            some = rows[start : start + at_once]
            shown = show({row.user_id for row in some})
            for row in some:
                if row.user_id in shown:
                    found.setdefault(row.user_id, (row, shown[row.user_id]))
            if len(found) > limit:
                return _page([*found.values()][:limit])
            looked_at += len(some)
            if looked_at >= LOOKED_AT:
                return replace(_page([*found.values()]), rest=place if some[-1] is rows[-1] else some[-1])
    return replace(_page([*found.values()]), rest=rest)


def _page(found: Sequence[tuple[Row, Seen]]) -> Page:
    """Return a page that goes on after its last row."""
    return Page([row for row, _ in found], [seen for _, seen in found], found[-1][0] if found else None)


def to_cursor(row: Row | None, mark: str = "") -> str | None:
    """Return what a client sends back to go on after this row; the mark says of which list it is, where several are."""
    return cursors.encode(f"{mark}{row.at} {row.user_id}") if row else None


def from_cursor(cursor: str | None, marks: Collection[str] = ("",)) -> tuple[Row | None, str]:
    """Return the row after which a list goes on, and the mark of which list."""
    if cursor is None:
        return None, ""
    text = cursors.decode(cursor) or ""
    mark = next((mark for mark in marks if text.startswith(mark)), None)
    at, _, user_id = text.removeprefix(mark or "").partition(" ")
    if mark is not None and _TIME.fullmatch(at) and is_user_id(user_id):
        return Row(user_id, int(at)), mark
    raise cursors.BadCursorError
