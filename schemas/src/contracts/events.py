"""What happened, as values. Each class is the latest version of the Avro record of the same name."""

from dataclasses import dataclass


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
    occurred_at: int | None

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
    occurred_at: int | None


Event = FollowChanged | TweetCreated | TweetDeleted

EVENTS: dict[str, type[Event]] = {event.__name__: event for event in (FollowChanged, TweetCreated, TweetDeleted)}
