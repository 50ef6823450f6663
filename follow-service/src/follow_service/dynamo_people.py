"""What one person sees of others, from DynamoDB: a request for each hundred rows."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from contracts.profiles import read_profile
from follow_service.dynamo_facts import Facts, Reader
from follow_service.people import Seen, Ties

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoPeople:
    """The People of the graph, strongly consistent."""

    def __init__(self, dynamodb: "DynamoDBClient", table_prefix: str) -> None:
        self._reader = Reader(dynamodb, table_prefix)

    def seen(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        pairs = _both_ways(viewer_id, user_ids)
        return _seen(viewer_id, self._reader.read(users=user_ids, blocks=pairs))

    def seen_in_list(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        return self.seen(viewer_id, user_ids)

    def seen_with_ties(self, viewer_id: str, user_ids: Collection[str]) -> Mapping[str, Seen]:
        pairs = _both_ways(viewer_id, user_ids)
        mutes = [(viewer_id, user_id) for user_id in user_ids]
        found = self._reader.read(users=user_ids, blocks=pairs, follows=pairs, requests=pairs, mutes=mutes)
        seen = _seen(viewer_id, found)
        return {
            user_id: Seen(each.profile, each.blocking, _ties(viewer_id, user_id, found))
            for user_id, each in seen.items()
        }


def _both_ways(viewer_id: str, user_ids: Collection[str]) -> list[tuple[str, str]]:
    return [pair for user_id in user_ids for pair in ((viewer_id, user_id), (user_id, viewer_id))]


def _seen(viewer_id: str, found: Facts) -> dict[str, Seen]:
    return {
        user_id: Seen(profile, (viewer_id, user_id) in found.blocks)
        for user_id, row in found.users.items()
        if (user_id, viewer_id) not in found.blocks and (profile := read_profile(row))
    }


def _ties(viewer_id: str, user_id: str, found: Facts) -> Ties:
    there, back = (viewer_id, user_id), (user_id, viewer_id)
    follows = found.follows
    return Ties(
        following=there in follows,
        followed_by=back in follows,
        requested=there in found.requests and there not in follows,
        requested_by=back in found.requests and back not in follows,
        blocking=there in found.blocks,
        muting=there in found.mutes,
        mutual={there, back} <= follows,
    )
