"""What everybody may know of an account, by its row of users, and what a change of the row tells. Pure.

Rule: a state is all that UserChanged tells besides where and when. A row without created_at is no account and has none:
somebody's count came before the profile. A deleted account has no name any more, and that state is its last: a
tombstone follows it, and whatever changes in the row afterwards tells nothing. A state replaces every one of a lower
version, whatever shard either came by.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from cdc_bridge.images import BadRowError, Row
from contracts import Source, UserChanged
from contracts.tables import USERS

Identity = tuple[str, Source]
ATTRIBUTES = (
    USERS.user_id,
    USERS.version,
    USERS.display_name,
    USERS.is_private,
    USERS.discoverable,
    USERS.followers_count,
    USERS.following_count,
    USERS.created_at,
    USERS.deleted_at,
)
"""All of a row that a state is made of."""
_SNAPSHOT = Source("snapshot", 0)


class State(NamedTuple):
    """The public state of an account."""

    display_name: str | None
    is_private: bool
    discoverable: bool
    followers_count: int
    following_count: int
    created_at: int
    deleted_at: int | None


class Gone(NamedTuple):
    """The tombstone behind the last state of a key."""

    last: UserChanged


def state_of(row: Row) -> State | None:
    """Return the state that a row has; None if it is no account's."""
    if USERS.created_at not in row:
        return None
    deleted_at = row.ms(USERS.deleted_at) if USERS.deleted_at in row else None
    return State(
        display_name=row.text(USERS.display_name) if deleted_at is None else None,
        is_private=row.flag(USERS.is_private, absent=False),
        discoverable=row.flag(USERS.discoverable, absent=True),
        followers_count=row.count(USERS.followers_count),
        following_count=row.count(USERS.following_count),
        created_at=row.ms(USERS.created_at),
        deleted_at=deleted_at,
    )


def event_of(identity: Identity, row: Row, state: State, occurred_at: int | None = None) -> UserChanged:
    """Tell that a row has this state."""
    return UserChanged(
        *identity,
        user_id=row.text(USERS.user_id),
        version=row.count(USERS.version),
        display_name=state.display_name,
        is_private=state.is_private,
        discoverable=state.discoverable,
        followers_count=state.followers_count,
        following_count=state.following_count,
        created_at=state.created_at,
        deleted_at=state.deleted_at,
        occurred_at=occurred_at,
    )


def changes(identity: Identity, old: Row | None, new: Row | None) -> Sequence[UserChanged | Gone]:
    """Return what it tells that a row that was old is new now; None is no row."""
    if new is None:
        last = state_of(old) if old else None
        return (Gone(event_of(identity, old, last)),) if old and last and last.deleted_at is None else ()
    before = _before(old)
    after = state_of(new)
    if after is None or after == before:
        return ()
    if after.deleted_at is None:
        return (event_of(identity, new, after, None if before else after.created_at),)
    if before and before.deleted_at is not None:
        return ()
    last_event = event_of(identity, new, after, after.deleted_at)
    return last_event, Gone(last_event)


def snapshot(row: Row) -> Sequence[UserChanged | Gone]:
    """Return what tells the state that a row has, although it did not change."""
    state = state_of(row)
    if state is None:
        return ()
    told = event_of((f"snapshot-{row.text(USERS.user_id)}-{row.count(USERS.version)}", _SNAPSHOT), row, state)
    return (told,) if state.deleted_at is None else (told, Gone(told))


def _before(old: Row | None) -> State | None:
    """Return the state before; a row that broke its contract had none, so that mending it tells the state again."""
    with suppress(BadRowError):
        return state_of(old) if old else None
    return None
