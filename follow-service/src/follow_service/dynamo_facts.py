"""What holds of people and of pairs of them, read from all tables of the graph at once, strongly consistent.

Rule: a pair is who does something and to whom: (follower, followee), (blocker, blocked), (muter, muted), (user, whom
they dismissed).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contracts.tables import BLOCKS, DISMISSALS, FOLLOW_REQUESTS, FOLLOWERS, MUTES, USERS
from murmuration_runtime.dynamo import items_of_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Pair = tuple[str, str]


@dataclass(frozen=True)
class Facts:
    """What there is of that which was asked."""

    users: Mapping[str, Any] = field(default_factory=dict)  # by id, their rows
    follows: set[Pair] = field(default_factory=set)
    requests: set[Pair] = field(default_factory=set)
    left_over: set[Pair] = field(default_factory=set)  # requests that were accepted, and count as absent
    blocks: set[Pair] = field(default_factory=set)
    mutes: set[Pair] = field(default_factory=set)
    dismissals: set[Pair] = field(default_factory=set)


class Reader:
    """Reads facts."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._dynamodb = dynamodb
        self._prefix = table_prefix

    def read(
        self,
        *,
        users: Iterable[str] = (),
        follows: Iterable[Pair] = (),
        requests: Iterable[Pair] = (),
        blocks: Iterable[Pair] = (),
        mutes: Iterable[Pair] = (),
        dismissals: Iterable[Pair] = (),
    ) -> Facts:
        """Return what there is of these: a request for each hundred, whatever they are."""
        asked: dict[Any, Any] = {
            **{(USERS.name, each): user_key(each) for each in users},
            **{(FOLLOWERS.name, pair): edge_key(*pair) for pair in follows},
            **{(FOLLOW_REQUESTS.name, pair): edge_key(*pair) for pair in requests},
            **{(BLOCKS.name, pair): block_key(*pair) for pair in blocks},
            **{(MUTES.name, pair): mute_key(*pair) for pair in mutes},
            **{(DISMISSALS.name, pair): dismissal_key(*pair) for pair in dismissals},
        }
        keys = [(f"{self._prefix}{table}", key) for (table, _), key in asked.items()]
        found: dict[str, list[Any]] = {}
        for table, item in items_of_tables(self._dynamodb, keys, {}):
            found.setdefault(table.removeprefix(self._prefix), []).append(item)
        asking = found.get(FOLLOW_REQUESTS.name, ())
        accepted = {_edge(item) for item in asking if FOLLOW_REQUESTS.accepted_at in item}
        return Facts(
            users={item[USERS.user_id]["S"]: item for item in found.get(USERS.name, ())},
            follows={_edge(item) for item in found.get(FOLLOWERS.name, ())},
            requests={_edge(item) for item in asking} - accepted,
            left_over=accepted,
            blocks={_pair(item, BLOCKS.blocker_id, BLOCKS.blocked_id) for item in found.get(BLOCKS.name, ())},
            mutes={_pair(item, MUTES.muter_id, MUTES.muted_id) for item in found.get(MUTES.name, ())},
            dismissals={
                _pair(item, DISMISSALS.user_id, DISMISSALS.dismissed_id) for item in found.get(DISMISSALS.name, ())
            },
        )


def user_key(user_id: str) -> Any:
    """Return the key of an account."""
    return {USERS.user_id: {"S": user_id}}


def edge_key(follower_id: str, followee_id: str) -> Any:
    """Return the key of a follow, which is that of its request too."""
    return {FOLLOWERS.followee_id: {"S": followee_id}, FOLLOWERS.follower_id: {"S": follower_id}}


def block_key(blocker_id: str, blocked_id: str) -> Any:
    """Return the key of a block."""
    return {BLOCKS.pair: {"S": BLOCKS.pair_of(blocker_id, blocked_id)}}


def mute_key(muter_id: str, muted_id: str) -> Any:
    """Return the key of a mute."""
    return {MUTES.muter_id: {"S": muter_id}, MUTES.muted_id: {"S": muted_id}}


def dismissal_key(user_id: str, dismissed_id: str) -> Any:
    """Return the key of a dismissal."""
    return {DISMISSALS.user_id: {"S": user_id}, DISMISSALS.dismissed_id: {"S": dismissed_id}}


def _edge(item: Any) -> Pair:
    return _pair(item, FOLLOWERS.follower_id, FOLLOWERS.followee_id)


def _pair(item: Any, who: str, whom: str) -> Pair:
    return item[who]["S"], item[whom]["S"]
