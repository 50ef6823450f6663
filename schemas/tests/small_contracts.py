"""Contracts of the tests' own. What is tested with these stays green when ours grow a version or a consumer."""

from dataclasses import dataclass
from pathlib import Path

from contracts import Source
from contracts.topic import load


@dataclass(frozen=True)
class Knocked:
    """Somebody knocked at a door, or ceased to."""

    event_id: str
    source: Source
    visitor_id: str
    house_id: str
    loud: bool
    occurred_at: int | None = None


@dataclass(frozen=True)
class Posted:
    """A note was put up."""

    event_id: str
    source: Source
    tweet_id: str
    author_id: str
    text: str
    occurred_at: int


@dataclass(frozen=True)
class Removed:
    """A note was taken down; it has the fields of one that was put up."""

    event_id: str
    source: Source
    tweet_id: str
    author_id: str
    occurred_at: int | None = None


@dataclass(frozen=True)
class Rented:
    """Who rents a house, after a change: of a compacted topic."""

    event_id: str
    source: Source
    house_id: str
    version: int
    state: str


SMALL = Path(__file__).with_name("small")
EVENTS = {event.__name__: event for event in (Knocked, Posted, Removed, Rented)}
KNOCKED, POSTED, REMOVED, RENTED = load(SMALL, EVENTS).values()
KNOCK = Knocked("e", Source("s", 7), "bob", "alice", loud=True, occurred_at=1)
RENT = Rented("e", Source("s", 7), "alice", 3, "let")
