"""What one stream record says: one event, or nothing. Pure: no clock, no I/O.

Rule: the record alone decides, so that reading it again says the same again.

    followers  INSERT  FollowChanged, following
               REMOVE  FollowChanged, no longer following
               MODIFY  nothing: the edge stood and still stands
    tweets     INSERT  TweetCreated, unless the row was deleted from its first moment
               MODIFY  TweetDeleted if deleted_at is newly set, else nothing
               REMOVE  TweetDeleted, unless an earlier deleted_at said so already
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from contracts import TOPICS, Event, FollowChanged, Source, Topic, TweetCreated, TweetDeleted
from contracts.tables import FOLLOWERS, TWEETS

Record = Mapping[str, Any]
"""One record as GetRecords answers it: eventID, eventName and, under dynamodb, the images in DynamoDB's JSON."""


class UntranslatableError(Exception):
    """The record should have given an event of this topic, but its row is not what the contract says."""

    def __init__(self, topic: Topic, reason: str) -> None:
        super().__init__(reason)
        self.topic = topic
        self.reason = reason


class _BadRowError(Exception):
    """The row breaks the data contract; the message names the attribute."""


class _Row:
    """One image of a row, read strictly: an attribute is there with its right type, or the row is bad."""

    def __init__(self, name: str, attributes: Mapping[str, Mapping[str, Any]]) -> None:
        self._name = name
        self._attributes = attributes

    def text(self, attribute: str) -> str:
        """Return a string attribute."""
        try:
            text: str = self._attributes[attribute]["S"]
        except KeyError:
            raise self._bad(attribute, "S") from None
        return text

    def ms(self, attribute: str) -> int:
        """Return a time in whole milliseconds."""
        try:
            number = self._attributes[attribute]["N"]
        except KeyError:
            raise self._bad(attribute, "N") from None
        try:
            return int(number)
        except ValueError:
            raise _BadRowError(f"{attribute} of {self._name} is {number!r}, not whole milliseconds") from None

    @property
    def deleted_at(self) -> int | None:
        """When the row was soft-deleted; None while it lives."""
        return self.ms(TWEETS.deleted_at) if TWEETS.deleted_at in self._attributes else None

    def _bad(self, attribute: str, kind: str) -> _BadRowError:
        if attribute not in self._attributes:
            return _BadRowError(f"{attribute} is missing in {self._name}")
        return _BadRowError(f"{attribute} of {self._name} is {dict(self._attributes[attribute])!r}, not of type {kind}")


Identity = tuple[str, Source]
Images = Callable[[str], _Row]


def _followed(identity: Identity, image: Images) -> Event:
    new = image("NewImage")
    return FollowChanged(
        *identity,
        follower_id=new.text(FOLLOWERS.follower_id),
        followee_id=new.text(FOLLOWERS.followee_id),
        following=True,
        occurred_at=new.ms(FOLLOWERS.followed_at),
    )


def _unfollowed(identity: Identity, image: Images) -> Event:
    old = image("OldImage")
    return FollowChanged(
        *identity,
        follower_id=old.text(FOLLOWERS.follower_id),
        followee_id=old.text(FOLLOWERS.followee_id),
        following=False,
        occurred_at=None,
    )


def _created(identity: Identity, image: Images) -> Event | None:
    new = image("NewImage")
    if new.deleted_at is not None:
        return None
    return TweetCreated(
        *identity,
        tweet_id=new.text(TWEETS.tweet_id),
        author_id=new.text(TWEETS.author_id),
        text=new.text(TWEETS.text),
        occurred_at=new.ms(TWEETS.created_at),
    )


def _soft_deleted(identity: Identity, image: Images) -> Event | None:
    new = image("NewImage")
    if new.deleted_at is None or image("OldImage").deleted_at is not None:
        return None
    return TweetDeleted(
        *identity, tweet_id=new.text(TWEETS.tweet_id), author_id=new.text(TWEETS.author_id), occurred_at=new.deleted_at
    )


def _removed(identity: Identity, image: Images) -> Event | None:
    old = image("OldImage")
    if old.deleted_at is not None:
        return None
    return TweetDeleted(
        *identity, tweet_id=old.text(TWEETS.tweet_id), author_id=old.text(TWEETS.author_id), occurred_at=None
    )


_RULES: Mapping[tuple[str, str], tuple[Topic, Callable[[Identity, Images], Event | None]]] = {
    (FOLLOWERS.name, "INSERT"): (TOPICS["FollowChanged"], _followed),
    (FOLLOWERS.name, "REMOVE"): (TOPICS["FollowChanged"], _unfollowed),
    (TWEETS.name, "INSERT"): (TOPICS["TweetCreated"], _created),
    (TWEETS.name, "MODIFY"): (TOPICS["TweetDeleted"], _soft_deleted),
    (TWEETS.name, "REMOVE"): (TOPICS["TweetDeleted"], _removed),
}
_TRACED = {FOLLOWERS.name: FOLLOWERS.traceparent, TWEETS.name: TWEETS.traceparent}
_W3C = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
TABLES = tuple(sorted({table for table, _ in _RULES}))
"""The tables whose streams are the source of all events."""


def traceparent(table: str, record: Record) -> str | None:
    """Return the trace context that this very change wrote into its row; a removal writes none."""
    change, attribute = record["dynamodb"], _TRACED[table]
    now = change.get("NewImage", {}).get(attribute)
    if now is None or now == change.get("OldImage", {}).get(attribute):
        return None
    text = now.get("S", "")
    return text if _W3C.fullmatch(text) else None


def translate(table: str, shard_id: str, record: Record) -> tuple[Topic, Event] | None:
    """Say which event this record is, and for which topic; None if it concerns nobody."""
    found = _RULES.get((table, record["eventName"]))
    if found is None:
        return None
    topic, rule = found
    change = record["dynamodb"]

    def image(name: str) -> _Row:
        if name not in change:
            raise _BadRowError(f"{name} is missing: the stream of {table} must give NEW_AND_OLD_IMAGES")
        return _Row(name, change[name])

    try:
        event = rule((record["eventID"], Source(shard_id, int(change["SequenceNumber"]))), image)
    except _BadRowError as error:
        raise UntranslatableError(topic, str(error)) from error
    return None if event is None else (topic, event)
