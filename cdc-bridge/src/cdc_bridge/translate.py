"""What one stream record says: events in their order, or nothing. Pure: no clock, no I/O.

Rule: the record alone decides, so that reading it again says the same again.

    followers        INSERT  FollowChanged, following
                     REMOVE  FollowChanged, no longer following
                     MODIFY  nothing: the edge stood and still stands
    blocks, mutes    BlockChanged and MuteChanged, by the same rule
    follow_requests  any     FollowRequestChanged: a row with accepted_at is no request any more, so one that gets it
                             was accepted, one that comes without it was requested, one that goes without it has ended
    tweets           INSERT  TweetCreated, unless the row was deleted from its first moment
                     MODIFY  TweetDeleted if deleted_at is newly set, else nothing
                     REMOVE  TweetDeleted, unless an earlier deleted_at said so already
    users            any     UserChanged, if the public state is another than before. A state with deleted_at is the
                             last, and is followed by a tombstone; so is that of a row that goes without it
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cdc_bridge.account_states import Gone, Identity, changes
from cdc_bridge.images import BadRowError, Row
from contracts import (
    TOPICS,
    BlockChanged,
    Event,
    FollowChanged,
    FollowRequestChanged,
    MuteChanged,
    Source,
    Topic,
    TweetCreated,
    TweetDeleted,
)
from contracts.tables import BLOCKS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, TWEETS, USERS

Record = Mapping[str, Any]
"""One record as GetRecords answers it: eventID, eventName and, under dynamodb, the images in DynamoDB's JSON."""


class UntranslatableError(Exception):
    """The record should have given an event of this topic, but its row is not what the contract says."""

    def __init__(self, topic: Topic, reason: str) -> None:
        super().__init__(reason)
        self.topic = topic
        self.reason = reason


class Images:
    """The rows before and after a change, by their names in the record."""

    def __init__(self, table: str, change: Mapping[str, Any]) -> None:
        self._table = table
        self._change = change

    def __call__(self, name: str) -> Row:
        """Return one of them, which must be there."""
        if name not in self._change:
            raise BadRowError(f"{name} is missing: the stream of {self._table} must give NEW_AND_OLD_IMAGES")
        return Row(name, self._change[name])

    @property
    def recorded_at(self) -> int | None:
        """The stream's own time of the change, coarse and rounded down."""
        seconds = self._change.get("ApproximateCreationDateTime")
        return None if seconds is None else int(seconds * 1000)


Told = Sequence[Event | Gone]
Rule = Callable[[Identity, Images], Told]
_NOTHING: Told = ()


def _pairs(event: Callable[..., Event], who: str, whom: str, at: str, *, recorded: bool = False) -> tuple[Rule, Rule]:
    """Return the rules of a table with a row for each pair: of a row that comes, and of one that goes.

    recorded: whether the event has the stream's own time, too.
    """

    def came(identity: Identity, image: Images) -> Told:
        new = image("NewImage")
        more = (image.recorded_at,) if recorded else ()
        return (event(*identity, new.text(who), new.text(whom), True, new.ms(at), *more),)

    def went(identity: Identity, image: Images) -> Told:
        old = image("OldImage")
        more = (image.recorded_at,) if recorded else ()
        return (event(*identity, old.text(who), old.text(whom), False, None, *more),)

    return came, went


def _requested(identity: Identity, image: Images) -> Told:
    new = image("NewImage")
    if FOLLOW_REQUESTS.accepted_at in new:
        return _NOTHING
    people = new.text(FOLLOW_REQUESTS.follower_id), new.text(FOLLOW_REQUESTS.followee_id)
    return (FollowRequestChanged(*identity, *people, "requested", new.ms(FOLLOW_REQUESTS.requested_at)),)


def _answered(identity: Identity, image: Images) -> Told:
    old, new = image("OldImage"), image("NewImage")
    if FOLLOW_REQUESTS.accepted_at in old:
        return _requested(identity, image)
    if FOLLOW_REQUESTS.accepted_at not in new:
        return _NOTHING
    people = new.text(FOLLOW_REQUESTS.follower_id), new.text(FOLLOW_REQUESTS.followee_id)
    return (FollowRequestChanged(*identity, *people, "accepted", new.ms(FOLLOW_REQUESTS.accepted_at)),)


def _ended(identity: Identity, image: Images) -> Told:
    old = image("OldImage")
    if FOLLOW_REQUESTS.accepted_at in old:
        return _NOTHING
    people = old.text(FOLLOW_REQUESTS.follower_id), old.text(FOLLOW_REQUESTS.followee_id)
    return (FollowRequestChanged(*identity, *people, "ended", None),)


def _created(identity: Identity, image: Images) -> Told:
    new = image("NewImage")
    if TWEETS.deleted_at in new:
        return _NOTHING
    event = TweetCreated(
        *identity,
        tweet_id=new.text(TWEETS.tweet_id),
        author_id=new.text(TWEETS.author_id),
        text=new.text(TWEETS.text),
        occurred_at=new.ms(TWEETS.created_at),
    )
    return (event,)


def _soft_deleted(identity: Identity, image: Images) -> Told:
    new = image("NewImage")
    if TWEETS.deleted_at not in new or TWEETS.deleted_at in image("OldImage"):
        return _NOTHING
    tweet = new.text(TWEETS.tweet_id), new.text(TWEETS.author_id)
    return (TweetDeleted(*identity, *tweet, new.ms(TWEETS.deleted_at), image.recorded_at),)


def _removed(identity: Identity, image: Images) -> Told:
    old = image("OldImage")
    if TWEETS.deleted_at in old:
        return _NOTHING
    tweet = old.text(TWEETS.tweet_id), old.text(TWEETS.author_id)
    return (TweetDeleted(*identity, *tweet, None, image.recorded_at),)


_followed, _unfollowed = _pairs(
    FollowChanged, FOLLOWERS.follower_id, FOLLOWERS.followee_id, FOLLOWERS.followed_at, recorded=True
)
_blocked, _unblocked = _pairs(BlockChanged, BLOCKS.blocker_id, BLOCKS.blocked_id, BLOCKS.blocked_at)
_muted, _unmuted = _pairs(MuteChanged, MUTES.muter_id, MUTES.muted_id, MUTES.muted_at)
_RULES: Mapping[tuple[str, str], tuple[Topic, Rule]] = {
    (FOLLOWERS.name, "INSERT"): (TOPICS["FollowChanged"], _followed),
    (FOLLOWERS.name, "REMOVE"): (TOPICS["FollowChanged"], _unfollowed),
    (BLOCKS.name, "INSERT"): (TOPICS["BlockChanged"], _blocked),
    (BLOCKS.name, "REMOVE"): (TOPICS["BlockChanged"], _unblocked),
    (MUTES.name, "INSERT"): (TOPICS["MuteChanged"], _muted),
    (MUTES.name, "REMOVE"): (TOPICS["MuteChanged"], _unmuted),
    (FOLLOW_REQUESTS.name, "INSERT"): (TOPICS["FollowRequestChanged"], _requested),
    (FOLLOW_REQUESTS.name, "MODIFY"): (TOPICS["FollowRequestChanged"], _answered),
    (FOLLOW_REQUESTS.name, "REMOVE"): (TOPICS["FollowRequestChanged"], _ended),
    (TWEETS.name, "INSERT"): (TOPICS["TweetCreated"], _created),
    (TWEETS.name, "MODIFY"): (TOPICS["TweetDeleted"], _soft_deleted),
    (TWEETS.name, "REMOVE"): (TOPICS["TweetDeleted"], _removed),
    (USERS.name, "INSERT"): (TOPICS["UserChanged"], lambda it, image: changes(it, None, image("NewImage"))),
    (USERS.name, "MODIFY"): (
        TOPICS["UserChanged"],
        lambda it, image: changes(it, image("OldImage"), image("NewImage")),
    ),
    (USERS.name, "REMOVE"): (TOPICS["UserChanged"], lambda it, image: changes(it, image("OldImage"), None)),
}
_TRACED = {table.name: table.traceparent for table in (FOLLOWERS, BLOCKS, MUTES, FOLLOW_REQUESTS, TWEETS)}
_W3C = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
TABLES = tuple(sorted({table for table, _ in _RULES}))
"""The tables whose streams are the source of all events."""
SOURCES = frozenset((table, topic.event.__name__) for (table, _), (topic, _) in _RULES.items())
"""Which table's rows tell of which topic, by the name that it had before it grew."""


def traceparent(table: str, record: Record) -> str | None:
    """Return the trace context that this very change wrote into its row; a removal writes none."""
    change, attribute = record["dynamodb"], _TRACED.get(table)
    now = change.get("NewImage", {}).get(attribute)
    if now is None or now == change.get("OldImage", {}).get(attribute):
        return None
    text = now.get("S", "")
    return text if _W3C.fullmatch(text) else None


def translate(table: str, shard_id: str, record: Record) -> tuple[Topic, Told] | None:
    """Say what this record tells, in order, and to which topic; None if it concerns nobody."""
    found = _RULES.get((table, record["eventName"]))
    if found is None:
        return None
    topic, rule = found
    change = record["dynamodb"]
    try:
        told = rule((record["eventID"], Source(shard_id, int(change["SequenceNumber"]))), Images(table, change))
    except BadRowError as error:
        raise UntranslatableError(topic, str(error)) from error
    return (topic, told) if told else None
