"""What events change of that which is kept. Pure: no I/O.

Rule: a state of a person says all of it. A follow or a block is a hint: the row is looked at after the change is noted,
and what is found then is kept only where nobody has noted another since. Pages of suggestions are dropped for whomever
an event concerns; that comes first, because it needs no table. Who was gone long before any page that is kept was
looked up concerns none: that is what most of a topic says that is read again from its start.
"""

import uuid
from collections.abc import Iterable, Sequence

from contracts import BlockChanged, Event, FollowChanged, FollowRequestChanged, MuteChanged, Tombstone, UserChanged
from contracts.profiles import Display, Profile
from follow_service.cache import Cache, Kind, Member, State
from follow_service.cached_people import Adjacency
from follow_service.kept_pages import SECONDS, Pages, hiding

LONG_AGO = 2 * SECONDS * 1000  # ms: older than any page, for clocks differ and a record's time may be of its minute


def apply(cache: Cache, pages: Pages, tables: Adjacency, events: Iterable[Event | Tombstone], now: int) -> None:
    """Keep what these events say. Safe to repeat, and to do beside another."""
    told = [*events]
    if gone := {member for event in told if not is_of_long_ago(event, now) and (member := gone_in(event))}:
        pages.note_gone(gone)
    if readers := {reader for event in told for reader in readers_of(event)}:
        pages.drop(readers)
    if states := [state for event in told if (state := state_of(event))]:
        cache.tell(states)
    if changes := [*dict.fromkeys(change for event in told for change in changes_of(event))]:
        edition = uuid.uuid4().hex
        kept = cache.note(edition, changes)
        if kept:
            cache.agree(edition, tables.at(kept))


def state_of(event: Event | Tombstone) -> State | None:
    """Return the person whom an event shows whole."""
    if isinstance(event, Tombstone):
        return State(event.key, event.version, None)
    if not isinstance(event, UserChanged):
        return None
    if event.deleted_at is not None or event.display_name is None:
        return State(event.user_id, event.version, None)
    counts = event.followers_count, event.following_count
    profile = Profile(
        event.user_id, event.display_name, event.is_private, *counts, event.created_at, Display.of(*counts)
    )
    return State(event.user_id, event.version, profile)


def changes_of(event: Event | Tombstone) -> Sequence[Member]:
    """Return who may be in which lists now, or no longer."""
    if isinstance(event, FollowChanged):
        follower, followee = event.follower_id, event.followee_id
        return Member(Kind.FOLLOWERS, followee, follower), Member(Kind.FOLLOWING, follower, followee)
    if isinstance(event, BlockChanged):
        blocker, blocked = event.blocker_id, event.blocked_id
        return Member(Kind.BLOCKING, blocker, blocked), Member(Kind.BLOCKED, blocked, blocker)
    return ()


def gone_in(event: Event | Tombstone) -> str | None:
    """Return who may not be suggested to anybody any more, as `gone` has them."""
    if isinstance(event, Tombstone):
        return event.key
    if not isinstance(event, UserChanged):
        return None
    if event.deleted_at is not None:
        return event.user_id
    return None if event.discoverable else hiding(event.user_id)


def is_of_long_ago(event: Event | Tombstone, now: int) -> bool:
    """Say whether each page that is kept was looked up after this happened."""
    at = getattr(event, "occurred_at", None)  # a tombstone has none
    return at is not None and at < now - LONG_AGO


def readers_of(event: Event | Tombstone) -> Sequence[str]:
    """Return whose suggestions an event changes."""
    if isinstance(event, FollowChanged | FollowRequestChanged):
        return (event.follower_id,)
    if isinstance(event, BlockChanged):
        return event.blocker_id, event.blocked_id
    if isinstance(event, MuteChanged):
        return event.muter_id, event.muted_id
    return ()
