"""Tables as files of the contracts' own records, and from where on to read the topics afterwards. Pure.

Rule: the end of each topic is noted before the first row is read, and rows are read strongly consistent. So whatever a
row does not show was committed after that, and its event lies behind the noted place. Whoever takes the records, and
then every event from the places on, has what the tables have; what the records show already comes again as a repeat.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

from cdc_bridge.account_states import ATTRIBUTES, Gone
from cdc_bridge.translate import translate
from contracts import TOPICS, Event, Topic
from contracts.tables import FOLLOWERS, TWEETS, USERS

SHARD = "snapshot"  # instead of a stream's: the record was read from a row
Key = Mapping[str, Any]


class Table(NamedTuple):
    """What is read of a table, and how a consumer takes it."""

    key: Sequence[str]
    attributes: Sequence[str]
    records: Topic
    then_read: Sequence[Topic]


TABLES: Mapping[str, Table] = {
    FOLLOWERS.name: Table(
        key=(FOLLOWERS.followee_id, FOLLOWERS.follower_id),
        attributes=(FOLLOWERS.followee_id, FOLLOWERS.follower_id, FOLLOWERS.followed_at),
        records=TOPICS["FollowChanged"],
        then_read=(TOPICS["FollowChanged"],),
    ),
    TWEETS.name: Table(
        key=(TWEETS.tweet_id,),
        attributes=(TWEETS.tweet_id, TWEETS.author_id, TWEETS.text, TWEETS.created_at, TWEETS.deleted_at),
        records=TOPICS["TweetCreated"],
        then_read=(TOPICS["TweetCreated"], TOPICS["TweetDeleted"]),
    ),
    USERS.name: Table(
        key=(USERS.user_id, USERS.version),
        attributes=ATTRIBUTES,
        records=TOPICS["UserChanged"],
        then_read=(TOPICS["UserChanged"],),
    ),
}
KEPT_MS = min(topic.retention_ms for table in TABLES.values() for topic in table.then_read)


@dataclass(frozen=True)
class Place:
    """Where to go on with a topic: the offset of the next message of each partition, and which topic it was."""

    topic_id: str
    offsets: Sequence[int]


@dataclass(frozen=True)
class Part:
    """A file that is whole."""

    file: str
    records: int
    sha256: str


@dataclass(frozen=True)
class Exported:
    """How far a table has come: its files, and behind which row to go on."""

    parts: tuple[Part, ...] = ()
    after: Key | None = None
    is_done: bool = False


@dataclass(frozen=True)
class Progress:
    """How far an export has come."""

    began_at: int
    places: Mapping[str, Place]
    tables: Mapping[str, Exported]

    @staticmethod
    def read(told: Mapping[str, Any]) -> "Progress":
        """Read what as_json() wrote."""
        tables = {
            name: Exported(tuple(Part(**part) for part in it["parts"]), it["after"], it["is_done"])
            for name, it in told["tables"].items()
        }
        return Progress(told["began_at"], {name: Place(**it) for name, it in told["places"].items()}, tables)

    def as_json(self) -> dict[str, Any]:
        """Return what read() reads."""
        return asdict(self)

    def with_part(self, table: str, part: Part | None, after: Key | None) -> "Progress":
        """Return this with one more file of a table; no row to go on behind says that it is done."""
        was = self.tables[table]
        parts = (*was.parts, *([part] if part else []))
        return replace(self, tables={**self.tables, table: Exported(parts, after, is_done=after is None)})

    def is_too_old(self, now: int) -> bool:
        """Whether a topic may have lost what lies behind its place."""
        return now - self.began_at >= KEPT_MS

    def manifest(self) -> dict[str, Any]:
        """Return what a consumer needs to know."""
        tables = {
            name: {
                "records": TABLES[name].records.event.__name__,
                "version": TABLES[name].records.latest.number,
                "then_read": [topic.name for topic in TABLES[name].then_read],
                "files": [asdict(part) for part in it.parts],
            }
            for name, it in self.tables.items()
        }
        return {
            "began_at": self.began_at,
            "begin_before": self.began_at + KEPT_MS,
            "tables": tables,
            "places": {name: asdict(place) for name, place in self.places.items()},
        }


def record_of(table: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the record of a row as if it had just come; None of one that nobody is told of, or is told to be gone.

    UntranslatableError: the row breaks its contract.
    """
    key = [value for name in TABLES[table].key for value in row.get(name, {}).values()]
    event_id = sha256(json.dumps([SHARD, table, key]).encode()).hexdigest()[:32]
    change = {"SequenceNumber": "0", "NewImage": row}
    translated = translate(table, SHARD, {"eventID": event_id, "eventName": "INSERT", "dynamodb": change})
    told: Sequence[Event | Gone] = translated[1] if translated else ()
    if len(told) != 1 or isinstance(told[0], Gone):  # an account that was deleted is told with its tombstone
        return None
    event = told[0]
    source = {"shard_id": event.source.shard_id, "sequence_number": str(event.source.sequence_number)}
    return vars(event) | {"source": source}
