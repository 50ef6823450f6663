"""The names of tables, attributes and indexes, and of the values that services agree on. Pure.

Rule: schemas/tables has a file for each table, which says what an attribute means, who writes it and who reads it. A
class here has the same names, so that a misspelt one is an error before anything runs. An upper-case name is a value.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

_MOVED = "moved/"
_FOLLOWER_PARTS = 24  # 10,000 follows a second of one account are 417 of a part, and 834 units if they count twice
_LEASE_PARTS = 16  # no partition key takes more than 1,000 writes a second, and 2,000 shards are 1,000 renewals


class Table:
    """One table; its name goes behind the prefix of the deployment."""

    name: str


class USERS(Table):
    """Accounts."""

    name = "users"
    user_id = "user_id"
    display_name = "display_name"
    is_private = "is_private"
    created_at = "created_at"
    deleted_at = "deleted_at"
    version = "version"
    erasure = "erasure"
    departure = "departure"
    opening = "opening"
    opened_at = "opened_at"
    DUE = "due"
    discoverable = "discoverable"
    followers_count = "followers_count"
    following_count = "following_count"
    counts_version = "counts_version"
    celebrity_since = "celebrity_since"
    celebrity_until = "celebrity_until"
    by_celebrity = "by_celebrity"
    by_erasure = "by_erasure"
    by_departure = "by_departure"
    by_opening = "by_opening"


class FOLLOWERS(Table):
    """Who follows whom."""

    name = "followers"
    followee_id = "followee_id"
    follower_id = "follower_id"
    followed_at = "followed_at"
    part = "part"
    traceparent = "traceparent"
    by_part = "by_part"
    by_recency = "by_recency"
    by_follower = "by_follower"

    @classmethod
    def part_of(cls, followee_id: str, follower_id: str) -> str:
        """Return the part of the followee's list in which this follow lies."""
        return cls.parts_of(followee_id)[cls.number_of(follower_id)]

    @staticmethod
    def number_of(follower_id: str) -> int:
        """Return which of the parts of anybody's list a follower lies in."""
        return crc32(follower_id.encode()) % _FOLLOWER_PARTS

    @staticmethod
    def parts_of(followee_id: str) -> list[str]:
        """Return every part of the followee's list, in their order."""
        return [f"{followee_id}#{part:02}" for part in range(_FOLLOWER_PARTS)]


class FOLLOW_REQUESTS(Table):  # noqa: N801
    """Who asked to follow whom."""

    name = "follow_requests"
    followee_id = "followee_id"
    follower_id = "follower_id"
    requested_at = "requested_at"
    accepted_at = "accepted_at"
    expires_at = "expires_at"
    traceparent = "traceparent"
    by_recency = "by_recency"
    by_follower = "by_follower"


class BLOCKS(Table):
    """Who has blocked whom."""

    name = "blocks"
    pair = "pair"
    blocker_id = "blocker_id"
    blocked_id = "blocked_id"
    blocked_at = "blocked_at"
    traceparent = "traceparent"
    by_blocker = "by_blocker"
    by_blocked = "by_blocked"

    @staticmethod
    def pair_of(blocker_id: str, blocked_id: str) -> str:
        """Return the key of the row by which one has blocked the other."""
        return f"{blocker_id}#{blocked_id}"

    @staticmethod
    def blocked_in(pair: str) -> str:
        """Return whom such a row is about."""
        return pair.partition("#")[2]


class MUTES(Table):
    """Whose tweets a user does not want to read."""

    name = "mutes"
    muter_id = "muter_id"
    muted_id = "muted_id"
    muted_at = "muted_at"
    traceparent = "traceparent"
    by_recency = "by_recency"
    by_muted = "by_muted"


class DISMISSALS(Table):
    """Whom a user does not want suggested again."""

    name = "dismissals"
    user_id = "user_id"
    dismissed_id = "dismissed_id"
    dismissed_at = "dismissed_at"


class TWEETS(Table):
    """Tweets."""

    name = "tweets"
    tweet_id = "tweet_id"
    author_id = "author_id"
    live_author_id = "live_author_id"
    text = "text"
    created_at = "created_at"
    deleted_at = "deleted_at"
    traceparent = "traceparent"
    by_author = "by_author"
    by_live_author = "by_live_author"


class TWEET_CLAIMS(Table):  # noqa: N801
    """Which tweet an Idempotency-Key stands for."""

    name = "tweet_claims"
    author_id = "author_id"
    idempotency_key = "idempotency_key"
    tweet_id = "tweet_id"
    created_at = "created_at"
    digest = "digest"
    expires_at = "expires_at"


class WORKER_IDS(Table):  # noqa: N801
    """Who makes tweet ids under which worker number."""

    name = "worker_ids"
    worker_id = "worker_id"
    owner = "owner"
    until_ms = "until_ms"


class LEASES(Table):
    """Which bridge reads a shard, and how far it is published."""

    name = "leases"
    stream_arn = "stream_arn"
    shard_id = "shard_id"
    state = "state"
    ENDED = "ended"
    GAP = "gap"
    tip_at = "tip_at"
    shown_until = "shown_until"
    since = "since"
    position = "position"
    owner = "owner"
    epoch = "epoch"
    expires_at = "expires_at"
    renewals = "renewals"
    gap = "gap"
    tables = "tables"

    @staticmethod
    def part_of(stream_arn: str, shard_id: str) -> str:
        """Return the stream_arn under which a shard's row lies; before the migration it lies under the stream's own."""
        return f"{stream_arn}#{crc32(shard_id.encode()) % _LEASE_PARTS:02}"

    @staticmethod
    def parts_of(stream_arn: str) -> list[str]:
        """Return every stream_arn under which rows of a stream's shards may lie, in the order in which to read them.

        The one of before the migration comes first: a row that is moved meanwhile is then seen twice, never missed.
        """
        return [stream_arn, *(f"{stream_arn}#{part:02}" for part in range(_LEASE_PARTS))]

    @classmethod
    def shards(cls, items: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """Return the rows of a stream's shards by shard, of the items of all parts_of() it, in that order."""
        return {
            item[cls.shard_id]["S"]: item
            for item in items
            if not item.get(cls.owner, {}).get("S", "").startswith(_MOVED)
        }

    @staticmethod
    def moved_to(part: str) -> str:
        """Return the owner of a row left behind in the stream's own partition: no bridge up to 0.2.0 may take it."""
        return f"{_MOVED}{part}"

    @staticmethod
    def streams_of(table: str) -> str:
        """Return the stream_arn under which lie the streams that a table had."""
        return f"table/{table}"

    @staticmethod
    def topics() -> str:
        """Return the stream_arn under which lie the ids of the topics."""
        return "topics"

    @staticmethod
    def recounts() -> str:
        """Return the stream_arn under which lie the gaps after which everybody is still to be recounted."""
        return "recounts"

    @staticmethod
    def snapshots() -> str:
        """Return the stream_arn under which lie the gaps after which every account's state is still to be told."""
        return "snapshots"


class LEDGERS(Table):
    """How far FollowChanged is counted."""

    name = "ledgers"
    partition_id = "partition_id"
    shard_id = "shard_id"
    sequence_number = "sequence_number"
    expires_at = "expires_at"
    version = "version"
    next_offset = "next_offset"
    topic_id = "topic_id"
    gaps = "gaps"
    accounts = "accounts"
    scanned_at = "scanned_at"


class MIGRATIONS(Table):
    """How far the tables' migrations have come."""

    name = "migrations"
    migration = "migration"
    ADOPT = "adopt"
    LIVE_TWEETS = "live-tweets"
    SPREAD_FOLLOWERS = "spread-followers"
    SPREAD_LEASES = "spread-leases"
    USERS_STREAM = "users-stream"
    expanded_at = "expanded_at"
    backfilled_at = "backfilled_at"
    switched_at = "switched_at"
    contracted_at = "contracted_at"
    cursor = "cursor"
    rows_seen = "rows_seen"
    rows_changed = "rows_changed"
    rows_left = "rows_left"


TABLES: dict[str, type[Table]] = {
    table.name: table
    for table in (
        USERS,
        FOLLOWERS,
        FOLLOW_REQUESTS,
        BLOCKS,
        MUTES,
        DISMISSALS,
        TWEETS,
        TWEET_CLAIMS,
        WORKER_IDS,
        LEASES,
        LEDGERS,
        MIGRATIONS,
    )
}
