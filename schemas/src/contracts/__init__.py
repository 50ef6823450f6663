"""What services agree on: events, their topics and bytes; also ids and tables. One error for whatever breaks that."""

from contracts.codec import Codec
from contracts.errors import ContractError, UnknownSchemaError
from contracts.events import Event, FollowChanged, Source, TweetCreated, TweetDeleted
from contracts.topic import TOPICS, Topic

__all__ = [
    "TOPICS",
    "Codec",
    "ContractError",
    "Event",
    "FollowChanged",
    "Source",
    "Topic",
    "TweetCreated",
    "TweetDeleted",
    "UnknownSchemaError",
]
