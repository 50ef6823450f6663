"""What one person sees of others, and how they stand to each other. Pure: rules and errors, no I/O.

Rule: whoever has blocked the viewer is nobody to them, as is an id that nobody has and an account that was deleted:
each answer is the same, and takes as many readings of the tables. Whom the viewer blocks they see, with a mark, but not
whom these follow or who follows them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from contracts.ids import is_user_id
from contracts.profiles import Profile
from follow_service.profiles import UnknownUserError


class BlockingError(Exception):
    """The viewer blocks whose things they ask for."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"You block {user_id}. Unblock them first.")


class PrivateAccountError(Exception):
    """The account is private, and the viewer does not follow it."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"{user_id} is private. Ask to follow them, and try again when they have accepted.")


@dataclass(frozen=True)
class Ties:
    """How the viewer stands to somebody, and somebody to the viewer; never who has blocked the viewer."""

    following: bool
    followed_by: bool
    requested: bool
    requested_by: bool
    blocking: bool
    muting: bool
    mutual: bool


NO_TIES = Ties(*[False] * 7)


@dataclass(frozen=True)
class Seen:
    """Somebody as the viewer sees them."""

    profile: Profile
    blocking: bool
    ties: Ties | None = None


class People(Protocol):
    """What must be known of people. A user_id that nobody can have is never asked for."""

    def seen(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return those of these people who are somebody to the viewer; who is not is nobody by the tables."""

    def seen_in_list(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return the same of people whom the viewer did not name; who is not somebody may be so by what is kept."""

    def seen_with_ties(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        """Return the same with their ties, all of it strongly consistent."""


def known(people: People, viewer_id: str, user_id: str, *, ties: bool = False) -> Seen:
    """Return somebody who must be somebody to the viewer."""
    for found in some(people, viewer_id, [user_id], ties=ties):
        return found
    raise UnknownUserError(user_id)


def some(people: People, viewer_id: str, user_ids: Iterable[str], *, ties: bool = False) -> list[Seen]:
    """Return those who are somebody to the viewer, each once, in the order asked."""
    wanted = dict.fromkeys(user_id for user_id in user_ids if is_user_id(user_id))
    found = (people.seen_with_ties if ties else people.seen)(viewer_id, wanted)
    return [found[user_id] for user_id in wanted if user_id in found]


def relationships(people: People, viewer_id: str, user_ids: Iterable[str]) -> dict[str, Ties]:
    """Return the viewer's ties with each of these, in the order asked; with nobody there are none."""
    wanted = dict.fromkeys(user_id for user_id in user_ids if is_user_id(user_id))
    found = people.seen_with_ties(viewer_id, wanted)
    return {user_id: (found[user_id].ties if user_id in found else None) or NO_TIES for user_id in wanted}


def check_open(people: People, viewer_id: str, user_id: str) -> Seen:
    """Refuse a viewer who may not read whom this user follows and who follows them."""
    seen = known(people, viewer_id, user_id)
    if seen.blocking:
        raise BlockingError(user_id)
    if seen.profile.is_private and user_id != viewer_id:
        ties = relationships(people, viewer_id, [user_id])[user_id]
        if not ties.following:
            raise PrivateAccountError(user_id)
    return seen
