"""Whom somebody may like to follow, in pages. Pure: no I/O.

Rule: a list was right when it was made. Whoever must not be suggested by now is left out when it is read, and a page is
full, or the last. A cursor names a list and a place in it: when a new run counts, it goes on in the old one. Where that
is gone, it goes on at the same place of the list that there is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from contracts.ids import is_user_id
from contracts.profiles import Profile
from follow_service.people import Seen
from follow_service.profiles import Profiles
from murmuration_edge import cursors
from murmuration_suggested.layout import Suggestion

FEWEST = 10  # of a list are looked at together: the few that a page lacks would often be too few
_CURSOR = re.compile(r"([0-9]{8}T[0-9]{6}Z|online) ([0-9]{1,6})")


@dataclass(frozen=True)
class Listed:
    """A list of suggestions by its name."""

    name: str
    suggestions: Sequence[Suggestion]


@dataclass(frozen=True)
class Looked:
    """What the tables say now: who of some may be suggested, and which friends are there and still followed."""

    fit: Mapping[str, Seen] = field(default_factory=dict)
    friends: Mapping[str, Profile] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """A suggestion with reasons that hold now."""

    suggestion: Suggestion
    seen: Seen
    friends: Sequence[Profile]


@dataclass(frozen=True)
class Page:
    """Some suggestions, and at which place the list goes on; None at its end."""

    rows: list[Shown]
    rest: int | None


class Known(Protocol):
    """What must be known of people."""

    def look(self, user_id: str, people: Sequence[str], friends: Sequence[str]) -> Looked:
        """Look at all of them at once."""


class Dismissals(Protocol):
    """Where dismissals are kept."""

    def dismiss(self, user_id: str, dismissed_id: str, now: int) -> None:
        """Write the dismissal, and keep the time of one that is there."""


def page(known: Known, user_id: str, listed: Listed, limit: int, begin: int = 0) -> Page:
    """Return a page of a user's list from a place on."""
    shown: list[tuple[int, Shown]] = []
    place = begin
    while place < len(listed.suggestions) and len(shown) <= limit:
        most = max(limit + 1 - len(shown), FEWEST)
        some = {
            number: each
            for number, each in enumerate(listed.suggestions[place : place + most], place)
            if each.user_id != user_id
        }
        people = [each.user_id for each in some.values()]
        friends = dict.fromkeys(friend for each in some.values() for friend in each.because)
        looked = known.look(user_id, people, [*friends]) if people else Looked()
        shown += [(number, _shown(each, looked)) for number, each in some.items() if each.user_id in looked.fit]
        place += most
    rows = [each for _, each in shown[:limit]]
    return Page(rows, shown[limit - 1][0] + 1 if len(shown) > limit else None)


def dismiss(dismissals: Dismissals, profiles: Profiles, user_id: str, dismissed_id: str, now: int) -> bool:
    """Have somebody never suggested to this user again; say whether there was anything to write. Safe to repeat."""
    profiles.account(user_id).check_member(user_id)
    if user_id == dismissed_id or not is_user_id(dismissed_id):
        return False  # nobody can be suggested these
    dismissals.dismiss(user_id, dismissed_id, now)
    return True


def to_cursor(name: str, rest: int | None) -> str | None:
    """Return what a client sends back to go on in this list."""
    return None if rest is None else cursors.encode(f"{name} {rest}")


def from_cursor(cursor: str | None) -> tuple[str | None, int]:
    """Return the list's name and the place."""
    if cursor is None:
        return None, 0
    if read := _CURSOR.fullmatch(cursors.decode(cursor) or ""):
        return read[1], int(read[2])
    raise cursors.BadCursorError


def _shown(each: Suggestion, looked: Looked) -> Shown:
    kept = tuple(friend for friend in each.because if friend in looked.friends)
    count = each.count - len(each.because) + len(kept)
    profiles = [looked.friends[friend] for friend in kept]
    return Shown(Suggestion(each.user_id, count, kept), looked.fit[each.user_id], profiles)
