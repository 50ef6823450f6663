"""What is kept of people and of their lists, beside the tables: keys, texts, and for how long. Pure.

| key | type | content | lives |
|---|---|---|---|
| `profile:{USER}` | string | version of USER's row, a space, the profile's JSON or nothing if gone | 10 minutes |
| `followers:{USER}`, `following:{USER}` | sorted set | the newest 1,000 by when; and a HEAD, scored -1 | 10 minutes |
| `blocking:{USER}`, `blocked:{USER}` | sorted set | the same of whom USER blocks, and of who blocks USER | 10 minutes |
| `noted.LIST:{USER}` | sorted set | the last 500 who came into this list or left it, by when | 1 minute |

    HEAD  "!", an edition, "+" if the list is whole or "-" if it goes on in the table below the last one kept; or
          "?" and a token while somebody reads it from the table: then it has nothing else, and lives for 5 seconds.

Rule of profiles: a state replaces another only if its row has a higher version. An event writes even what is not there,
for a minute, so that who had read an earlier row finds a later one when they want to keep theirs.
Rule of lists: who fills one marks it first, reads an index, and reads from the table itself those who are noted, since
an index may lag; then they keep it if their mark still stands. Each change notes who it is about, takes a mark away,
and gives a kept list a new edition; then it looks at the table, and what it finds changes the list if its edition is
still the same. Else another change may have found something later: the list is dropped.
Rule of age: nothing is renewed, so whatever went wrong is gone after ten minutes.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from contracts.profiles import Display, Profile
from follow_service.lists import Row

SECONDS = 600  # that a fill is kept
GUARD_SECONDS = 60  # that an event's state is kept of somebody whom nobody looked at: far longer than a row is read
FILL_SECONDS = 5  # that a list may take to be read
NOTE_SECONDS = 60  # far longer than an index of DynamoDB lags behind its table
HASTY_SECONDS = 10  # that a list is kept of which more was noted than is kept: its index may have lagged
MOST = 1_000  # of a list
SLACK = 100  # it is cut in bulk, when it is this much over
MOST_NOTED = 500
BUSY = 50  # changes noted of a list: one more while it is read ends that, and nobody begins anew for some seconds
_SHOWN = ("display_name", "is_private", "followers_count", "following_count", "created_at")


class Kind(Enum):
    """What is listed of a user."""

    FOLLOWERS = "followers"
    FOLLOWING = "following"
    BLOCKING = "blocking"
    BLOCKED = "blocked"


class Member(NamedTuple):
    """Somebody in a list of somebody, or not in it."""

    kind: Kind
    owner_id: str
    user_id: str


@dataclass(frozen=True)
class State:
    """A person as their row says, and the row's version; without a profile they are gone."""

    user_id: str
    version: int
    profile: Profile | None


@dataclass(frozen=True)
class Newest:
    """The newest rows of a list, and whether these are all."""

    rows: list[Row]
    whole: bool


@dataclass(frozen=True)
class Known:
    """What is kept of some people; of blocks between them and a viewer only if these are certain."""

    states: Mapping[str, State]
    blocks: set[tuple[str, str]]  # who blocks whom
    certain: Collection[str]  # with whom every block is known


@dataclass(frozen=True)
class Fill:
    """The right to keep a list, and who is to be looked at in the table itself."""

    token: str
    noted: Collection[str]

    @property
    def seconds(self) -> int:
        """For how long it is kept."""
        return HASTY_SECONDS if len(self.noted) >= MOST_NOTED else SECONDS


class Cache(Protocol):
    """What is kept. Each call may raise RedisAwayError, and anything kept may be forgotten at any time."""

    def look(self, viewer_id: str, user_ids: Collection[str]) -> Known:
        """Return what is kept of these people and of blocks between them and the viewer."""

    def newest(self, kind: Kind, owner_id: str, most: int) -> Newest | None:
        """Return so many of the newest of a kept list; None if it is not kept."""

    def keep(self, states: Iterable[State]) -> None:
        """Keep what was read of the table, unless something later is kept."""

    def tell(self, states: Iterable[State]) -> None:
        """Keep what an event says, unless something later is kept; who is not kept is kept for a minute."""

    def begin(self, kind: Kind, owner_id: str) -> Fill | None:
        """Mark a list that is to be filled; None if it is kept already, or somebody else fills it."""

    def commit(self, kind: Kind, owner_id: str, fill: Fill, newest: Newest) -> bool:
        """Keep a list that was read since the mark; False if it changed meanwhile, or the mark is gone."""

    def note(self, edition: str, changes: Iterable[Member]) -> list[Member]:
        """Note what changes, take marks away, give kept lists this edition; return the changes of kept lists."""

    def agree(self, edition: str, found: Mapping[Member, int | None]) -> None:
        """Have kept lists say since when they are in the table, or that they are not; drop those of other editions."""


def to_text(state: State) -> str:
    """Write what is kept of a person, without the version."""
    return json.dumps([getattr(state.profile, name) for name in _SHOWN]) if state.profile else ""


def from_text(user_id: str, text: str) -> State:
    """Read it, with the version before it."""
    version, _, told = text.partition(" ")
    if not told:
        return State(user_id, int(version), None)
    name, is_private, followers_count, following_count, created_at = json.loads(told)
    display = Display.of(followers_count, following_count)
    profile = Profile(user_id, name, is_private, followers_count, following_count, created_at, display)
    return State(user_id, int(version), profile)


def profile_key(user_id: str) -> str:
    """Name what is kept of a person."""
    return f"profile:{{{user_id}}}"


def list_key(kind: Kind, owner_id: str) -> str:
    """Name a list."""
    return f"{kind.value}:{{{owner_id}}}"


def noted_key(kind: Kind, owner_id: str) -> str:
    """Name what was noted of a list."""
    return f"noted.{kind.value}:{{{owner_id}}}"


def corrected(newest: Newest, at: Mapping[str, int | None]) -> Newest:
    """Return what an index said as the table says it of some, newest first and 1,000 at most."""
    lowest = newest.rows[-1].at if newest.rows else 0
    rows = [row for row in newest.rows if row.user_id not in at]
    rows += [Row(user_id, when) for user_id, when in at.items() if when is not None and (newest.whole or when > lowest)]
    rows.sort(key=lambda row: row.at, reverse=True)  # the same order where two came at once
    return Newest(rows[:MOST], newest.whole and len(rows) <= MOST)


def first(newest: Newest, most: int) -> tuple[list[Row], Row | None] | None:
    """Return so many rows, and after which the list goes on in the index; None if that has to say all of it.

    Rows end before the first two that came at once, and before the last one kept, beside which another may have come:
    only the index knows which of these is next.
    """
    rows = newest.rows
    tie = next((place for place in range(1, len(rows)) if rows[place].at == rows[place - 1].at), None)
    if tie is None and newest.whole and len(rows) <= most:
        return rows, None
    shown = rows[: len(rows) - 1 if tie is None else tie - 1][:most]
    return (shown, shown[-1]) if shown else None
