"""What services agree on: events, their topics and bytes; also ids and tables. One error for whatever breaks that."""

from contracts.codec import Codec
from contracts.errors import ContractError, UnknownSchemaError
from contracts.events import (
    BlockChanged,
    Event,
    FollowChanged,
    FollowRequestChanged,
    MuteChanged,
    Source,
    Tombstone,
    TweetCreated,
    TweetDeleted,
    UserChanged,
)
from contracts.topic import TOPICS, Topic

__all__ = [
    "TOPICS",
    "BlockChanged",
    "Codec",
    "ContractError",
    "Event",
    "FollowChanged",
    "FollowRequestChanged",
    "MuteChanged",
    "Source",
    "Tombstone",
    "Topic",
    "TweetCreated",
    "TweetDeleted",
    "UnknownSchemaError",
    "UserChanged",
]
