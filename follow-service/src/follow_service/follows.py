"""Who follows whom, and who asked to. Pure: rules and errors, no clock, no I/O.

Rule: a follow is one row and nothing else; counts and timelines are other services' work on that row's stream. A
private account is asked first: the request is a row too, and moves to the follows when the account accepts. A follow
that is there stays, whatever the account turns into, and a request beside it counts as absent: two follows of one
person may have read that the account is public and that it is private. Where one of the two blocks the other, neither
row is written.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from contracts.ids import is_user_id
from follow_service.profiles import Account, UnknownUserError


class SelfFollowError(Exception):
    """Somebody tried to follow themselves."""


class FollowingFullError(Exception):
    """The caller follows as many accounts as anybody may."""


class FollowerFullError(Exception):
    """Whoever asks to follow the caller follows as many accounts as anybody may."""


class FollowBlockedError(Exception):
    """The caller blocks whom they want to follow."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"You block {user_id}. Unblock them first.")


class UnknownRequestError(Exception):
    """Nobody with this id asks to follow the caller, or no longer."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"{user_id!r} does not ask to follow you.")


@dataclass(frozen=True)
class Edge:
    """One person following another."""

    follower_id: str
    followee_id: str

    def __post_init__(self) -> None:
        if self.follower_id == self.followee_id:
            raise SelfFollowError(f"{self.follower_id} cannot follow themselves.")


@dataclass(frozen=True)
class Standing:
    """How two people stand to each other."""

    follower: Account
    followee: Account
    followed: bool
    requested: bool
    left_over: bool  # an accepted request still has its row, which counts as absent
    blocking: bool  # the follower blocks the followee
    blocked: bool  # the followee blocks the follower


class Outcome(Enum):
    """What a follow led to."""

    FOLLOWING = "following"
    REQUESTED = "requested"


class Store(Protocol):
    """What the rules need remembered."""

    def standing(self, edge: Edge) -> Standing:
        """Return how the two stand to each other, each part strongly consistent."""

    def add(self, edge: Edge, now: int) -> bool:
        """Write the edge, and keep the time of one that is there; False if one of the two blocks the other."""

    def remove(self, edge: Edge) -> None:
        """Delete the edge if it is there."""

    def remove_with_request(self, edge: Edge) -> None:
        """Delete the edge and a request beside it, all or nothing; a request without an edge stays."""

    def request(self, edge: Edge, now: int) -> bool:
        """Write the request, and keep the time of one that is there; False if one of the two blocks the other."""

    def withdraw(self, edge: Edge) -> None:
        """Delete the request if it is there."""

    def accept(self, edge: Edge, now: int) -> bool:
        """Mark the request as accepted and write the edge, all or nothing; an edge that is there keeps its time.

        False if there is no request, or one of the two blocks the other.
        """

    def clear(self, edge: Edge) -> None:
        """Delete the row of an accepted request; one that was made since stays."""


def follow(store: Store, edge: Edge, now: int, cap: int) -> Outcome:
    """Follow a person who exists, or ask one who is private. Safe to repeat.

    An account that turns private between the reading and the writing still gets this one follower: it asked before.
    """
    if not is_user_id(edge.followee_id):
        raise UnknownUserError(edge.followee_id)
    outcome = None
    while outcome is None:  # what came between the reading and the writing, a block say, is seen by the next reading
        outcome = _follow(store, edge, store.standing(edge), now, cap)
    return outcome


def unfollow(store: Store, edge: Edge) -> None:
    """Stop following somebody and take back the request, whether or not they exist. Safe to repeat.

    The request goes first: who accepts it at this moment either comes too late, or makes the edge that goes next.
    """
    if is_user_id(edge.followee_id):
        store.withdraw(edge)
        store.remove(edge)


def remove_follower(store: Store, edge: Edge) -> None:
    """Have somebody no longer follow, whether or not they exist; who only asks goes on asking. Safe to repeat."""
    if is_user_id(edge.follower_id):
        store.remove_with_request(edge)


def accept(store: Store, edge: Edge, now: int, cap: int) -> None:
    """Let somebody follow who asked. Safe to repeat."""
    if not is_user_id(edge.follower_id):
        raise UnknownRequestError(edge.follower_id)
    standing = store.standing(edge)
    standing.followee.check_member(edge.followee_id)
    apart = standing.blocking or standing.blocked or not standing.follower.exists
    if apart or not (standing.followed or standing.requested):
        raise UnknownRequestError(edge.follower_id)
    if not standing.followed and standing.follower.following_count >= cap:
        raise FollowerFullError(f"{edge.follower_id} follows {cap} accounts already. Accept when it is fewer.")
    if standing.requested and not store.accept(edge, now) and not store.standing(edge).followed:
        raise UnknownRequestError(edge.follower_id)
    if standing.requested or standing.left_over:
        store.clear(edge)


def admit(store: Store, edge: Edge, now: int, cap: int) -> bool:
    """Let somebody follow an account that went public, if they still ask to; False if they go on asking."""
    standing = store.standing(edge)
    if not standing.followee.exists or standing.followee.is_private:
        return False
    if not standing.follower.exists:
        store.withdraw(edge)
    elif standing.requested:
        if not standing.followed and standing.follower.following_count >= cap:
            return False
        store.accept(edge, now)  # unless they take it back at this moment, or a block does
        store.clear(edge)
    return True


def decline(store: Store, edge: Edge) -> None:
    """Drop somebody's request, whether or not there is one; a follow that is there stays. Safe to repeat."""
    if is_user_id(edge.follower_id):
        store.withdraw(edge)


def _follow(store: Store, edge: Edge, standing: Standing, now: int, cap: int) -> Outcome | None:
    """Do what follows from how the two stand; None if they no longer stood so."""
    standing.follower.check_member(edge.follower_id)
    if standing.blocked or not standing.followee.exists:
        raise UnknownUserError(edge.followee_id)
    if standing.blocking:
        raise FollowBlockedError(edge.followee_id)
    if standing.followed:
        return Outcome.FOLLOWING
    if standing.requested and standing.followee.is_private:
        return Outcome.REQUESTED
    if standing.follower.following_count >= cap:
        raise FollowingFullError(f"You follow {cap} accounts already. Unfollow one first.")
    if standing.left_over:
        store.clear(edge)
    if standing.followee.is_private:
        return Outcome.REQUESTED if store.request(edge, now) else None
    if not standing.requested:
        return Outcome.FOLLOWING if store.add(edge, now) else None
    if not store.accept(edge, now):
        return None
    store.clear(edge)
    return Outcome.FOLLOWING
