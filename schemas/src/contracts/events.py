"""What happened, as values. Each class is the latest version of the Avro record of the same name."""

from dataclasses import dataclass
from typing import Literal, get_args


@dataclass(frozen=True)
class Source:
    """A place in a stream. Within one Kafka partition and one shard, sequence numbers only repeat or grow."""

    shard_id: str
    sequence_number: int


@dataclass(frozen=True)
class FollowChanged:
    """Somebody began or ceased to follow somebody."""

    event_id: str
    source: Source
    follower_id: str
    followee_id: str
    following: bool
    occurred_at: int | None = None
    recorded_at: int | None = None

    @property
    def change(self) -> int:
        """What it adds to both counts: 1 or -1."""
        return 1 if self.following else -1


@dataclass(frozen=True)
class TweetCreated:
    """A tweet was written."""

    event_id: str
    source: Source
    tweet_id: str
    author_id: str
    text: str
    occurred_at: int


@dataclass(frozen=True)
class TweetDeleted:
    """A tweet was deleted, by its author or with its row."""

    event_id: str
    source: Source
    tweet_id: str
    author_id: str
    occurred_at: int | None = None
    recorded_at: int | None = None


@dataclass(frozen=True)
class UserChanged:
    """What everybody may know of an account, after a change; the state of the highest version is the latest."""

    event_id: str
    source: Source
    user_id: str
    version: int
    display_name: str | None
    is_private: bool
    discoverable: bool
    followers_count: int
    following_count: int
    created_at: int
    deleted_at: int | None = None
    occurred_at: int | None = None


@dataclass(frozen=True)
class FollowRequestChanged:
    """Somebody asked to follow a private account, was let in, or asks no longer."""

    event_id: str
    source: Source
    follower_id: str
    followee_id: str
    state: Literal["requested", "accepted", "ended"]
    occurred_at: int | None = None


@dataclass(frozen=True)
class BlockChanged:
    """Somebody blocked somebody, or no longer does."""

    event_id: str
    source: Source
    blocker_id: str
    blocked_id: str
    blocking: bool
    occurred_at: int | None = None


@dataclass(frozen=True)
class MuteChanged:
    """Somebody muted somebody, or no longer does."""

    event_id: str
    source: Source
    muter_id: str
    muted_id: str
    muting: bool
    occurred_at: int | None = None


@dataclass(frozen=True)
class Tombstone:
    """The last message of a key in a compacted topic: it is gone for good, and had this version."""

    event_id: str
    source: Source
    key: str
    version: int


Event = FollowChanged | TweetCreated | TweetDeleted | UserChanged | FollowRequestChanged | BlockChanged | MuteChanged

EVENTS: dict[str, type[Event]] = {event.__name__: event for event in get_args(Event)}
