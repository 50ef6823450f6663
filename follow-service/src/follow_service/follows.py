"""Who follows whom, and who asked to. Pure: rules and errors, no clock, no I/O.

Rule: a follow is one row and nothing else; counts and timelines are other services' work on that row's stream. A
private account is asked first: the request is a row too, and moves to the follows when the account accepts. A follow
that is there stays, whatever the account turns into.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from contracts.ids import is_user_id
from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service.profiles import Profiles, UnknownUserError


class SelfFollowError(Exception):
    """Somebody tried to follow themselves."""


class FollowingFullError(Exception):
    """The caller follows as many accounts as anybody may."""


class FollowerFullError(Exception):
    """Whoever asks to follow the caller follows as many accounts as anybody may."""


class UnknownRequestError(Exception):
    """Nobody with this id asks to follow the caller, or no longer."""


@dataclass(frozen=True)
class Edge:
    """One person following another."""

    follower_id: str
    followee_id: str

    def __post_init__(self) -> None:
        if self.follower_id == self.followee_id:
            raise SelfFollowError(f"{self.follower_id} cannot follow themselves.")


@dataclass(frozen=True)
class Followed:
    """The other end of an edge, and since when."""

    user_id: str
    followed_at: int


@dataclass(frozen=True)
class Requested:
    """Who asks to follow, and since when."""

    user_id: str
    requested_at: int


@dataclass(frozen=True)
class Follows:
    """Some of a list of followers or followees, newest first, and where it goes on."""

    users: Sequence[Followed]
    next_cursor: str | None


@dataclass(frozen=True)
class Requests:
    """Some of a list of requests, newest first, and where it goes on."""

    users: Sequence[Requested]
    next_cursor: str | None


@dataclass(frozen=True)
class Account:
    """What a follow depends on at either end."""

    exists: bool = False
    deleted: bool = False
    is_private: bool = False
    following_count: int = 0


@dataclass(frozen=True)
class Standing:
    """How two people stand to each other."""

    follower: Account
    followee: Account
    followed: bool
    requested: bool


class Outcome(Enum):
    """What a follow led to."""

    FOLLOWING = "following"
    REQUESTED = "requested"


class Store(Profiles, Protocol):
    """What the rules need remembered."""

    def standing(self, edge: Edge) -> Standing:
        """Return how the two stand to each other, each part strongly consistent."""

    def add(self, edge: Edge, now: int) -> None:
        """Write the edge; an edge that is there keeps its time."""

    def remove(self, edge: Edge) -> None:
        """Delete the edge if it is there."""

    def request(self, edge: Edge, now: int) -> None:
        """Write the request; a request that is there keeps its time."""

    def withdraw(self, edge: Edge) -> None:
        """Delete the request if it is there."""

    def accept(self, edge: Edge, now: int) -> bool:
        """Move the request to the edges, all or nothing; False if there is none."""

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        """List who follows this user, newest first."""

    def following(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        """List whom this user follows, newest first."""

    def requests(self, user_id: str, limit: int, cursor: str | None) -> Requests:
        """List who asks to follow this user, newest first."""


def follow(store: Store, edge: Edge, now: int, cap: int) -> Outcome:
    """Follow a person who exists, or ask one who is private. Safe to repeat.

    An account that turns private between the reading and the writing still gets this one follower: it asked before.
    """
    if not is_user_id(edge.followee_id):
        raise UnknownUserError(f"There is no user {edge.followee_id!r}.")
    standing = store.standing(edge)
    _check_member(standing.follower, edge.follower_id)
    if not standing.followee.exists:
        raise UnknownUserError(f"There is no user {edge.followee_id!r}.")
    if standing.followed:
        return Outcome.FOLLOWING
    if standing.requested and standing.followee.is_private:
        return Outcome.REQUESTED
    if standing.follower.following_count >= cap:
        raise FollowingFullError(f"You follow {cap} accounts already. Unfollow one first.")
    if standing.followee.is_private:
        store.request(edge, now)
        return Outcome.REQUESTED
    store.add(edge, now)
    if standing.requested:
        store.withdraw(edge)
    return Outcome.FOLLOWING


def unfollow(store: Store, edge: Edge) -> None:
    """Stop following somebody and take back the request, whether or not they exist. Safe to repeat.

    The request goes first: who accepts it at this moment either comes too late, or makes the edge that goes next.
    """
    if is_user_id(edge.followee_id):
        store.withdraw(edge)
        store.remove(edge)


def accept(store: Store, edge: Edge, now: int, cap: int) -> None:
    """Let somebody follow who asked. Safe to repeat."""
    if not is_user_id(edge.follower_id):
        raise UnknownRequestError(f"{edge.follower_id!r} does not ask to follow you.")
    standing = store.standing(edge)
    _check_member(standing.followee, edge.followee_id)
    if not (standing.followed or standing.requested) or not standing.follower.exists:
        raise UnknownRequestError(f"{edge.follower_id!r} does not ask to follow you.")
    if not standing.followed and standing.follower.following_count >= cap:
        raise FollowerFullError(f"{edge.follower_id} follows {cap} accounts already. Accept when it is fewer.")
    if standing.requested and not store.accept(edge, now) and not store.standing(edge).followed:
        raise UnknownRequestError(f"{edge.follower_id} has just taken the request back.")


def decline(store: Store, edge: Edge) -> None:
    """Drop somebody's request, whether or not there is one; a follow that is there stays. Safe to repeat."""
    if is_user_id(edge.follower_id):
        store.withdraw(edge)


def _check_member(account: Account, user_id: str) -> None:
    """Refuse a caller whom others could not look at."""
    if account.deleted:
        raise DeletedAccountError(user_id)
    if not account.exists:
        raise NoProfileError
