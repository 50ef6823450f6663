"""The graph on DynamoDB."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from follow_service.cache import Cache
from follow_service.cached_people import CachedLists, CachedPeople, CachedProfiles, Count
from follow_service.dynamo_adjacency import DynamoAdjacency
from follow_service.dynamo_blocks import DynamoBlocks
from follow_service.dynamo_facts import Reader
from follow_service.dynamo_follows import DynamoFollows
from follow_service.dynamo_lists import DynamoLists
from follow_service.dynamo_parts import SideBySide, one_by_one
from follow_service.dynamo_people import DynamoPeople
from follow_service.dynamo_profiles import DynamoProfiles
from follow_service.dynamo_suggestible import DynamoSuggestible
from follow_service.graph import Graph, Others
from follow_service.mutual_searches import DEAR, KeptSearches, Store

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from follow_service.profiles import Profiles


def dynamo_graph(
    dynamodb: "DynamoDBClient",
    table_prefix: str,
    in_parts: Callable[[], bool] = lambda: True,
    side_by_side: SideBySide = one_by_one,
    wrote: Callable[[str], object] = lambda _: None,
    cache: Cache | None = None,
    count: Count = lambda *_: None,
    searches: Store | None = None,
    dear: int = DEAR,
) -> Graph:
    """Return the graph in the tables with this prefix; with a cache, what is shown of others is kept there.

    searches: where those for mutual followers are kept, if the other has more than so many followers. The rest is as
    DynamoLists and DynamoFollows say.
    """
    people = DynamoPeople(dynamodb, table_prefix)
    lists = DynamoLists(dynamodb, table_prefix, in_parts, side_by_side)
    others = Others(people, lists)
    profiles: Profiles = DynamoProfiles(dynamodb, table_prefix)
    if cache:
        tables = DynamoAdjacency(dynamodb, table_prefix, lists)
        others = Others(CachedPeople(cache, tables, people, count), CachedLists(cache, tables, lists, count))
        profiles = CachedProfiles(cache, tables, profiles)
    pair = ("-", "-")
    reader = Reader(dynamodb, table_prefix)
    return Graph(
        profiles,
        DynamoFollows(dynamodb, table_prefix, wrote),
        DynamoBlocks(dynamodb, table_prefix),
        people,
        lists,
        KeptSearches(searches, count, dear),
        others,
        DynamoSuggestible(dynamodb, table_prefix),
        partial(
            reader.read,
            users=["-"],
            follows=[pair],
            requests=[pair],
            blocks=[pair],
            mutes=[pair],
            dismissals=[pair],
        ),
    )
