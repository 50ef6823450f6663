"""create_app: wiring, and nothing else."""

import time
from collections.abc import Callable
from functools import partial

from flask import Flask

from contracts.ids import is_user_id
from contracts.image import own
from contracts.tables import MIGRATIONS
from follow_service import api, metrics
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_parts import side_by_side
from follow_service.graph import Graph
from follow_service.hot_metrics import HotFollowees
from follow_service.hottest import Hottest
from follow_service.kept_pages import KeptPages
from follow_service.redis_cache import connect
from follow_service.redis_graph import RedisGraph
from follow_service.settings import Settings
from follow_service.suggestion_lists import Kept, SuggestionLists
from murmuration_edge.app import edge_app
from murmuration_edge.auth import Keys
from murmuration_runtime import dynamo
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.reader import connect as connect_suggested

SERVICE = "follow-service"


def create_app(
    settings: Settings | None = None,
    *,
    graph: Graph | None = None,
    pages: KeptPages | None = None,
    suggested: Kept | None = None,
    keys: Keys | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    clock: Callable[[], float] = time.monotonic,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or read(Settings)
    kept = RedisGraph(connect(redis), time.time, metrics.count_reads) if (redis := settings.graph_redis) else None
    graph = graph or _graph(settings, kept)
    pages = pages or (kept.pages if kept else KeptPages(None, bool))
    if suggested is None and (suggestions := settings.suggestions_redis):
        suggested = SuggestedReader(connect_suggested(suggestions.url, **suggestions.options()))
    lists = SuggestionLists(suggested, graph.lists, clock)
    check = kept.trust.listening(graph.check) if kept else graph.check
    checks: dict[str, Callable[[], object]] = {"dynamodb": check}
    if suggested:
        checks["suggestions-redis"] = lists.check
    readiness = Readiness("dynamodb")
    at_start: list[Callable[[], object]] = [partial(readiness.keep_looking, checks)]
    if kept:
        metrics.KEPT_AGE.set_function(kept.mark.age)
        at_start.append(kept.mark.keep_fresh)
    return edge_app(
        SERVICE,
        settings,
        api.operations(graph, lists, pages, now, settings.following_cap),
        api.PROBLEMS,
        readiness,
        contracts=own(SERVICE).labels(),
        is_user_id=is_user_id,
        keys=keys,
        at_start=at_start,
    )


def _graph(settings: Settings, kept: RedisGraph | None) -> Graph:
    """Return the graph in the tables, with what is kept of it; a Redis that is away makes this slower, not unready."""
    dynamodb, prefix, hottest = dynamo.client_for_requests(), settings.table_prefix, Hottest(time.monotonic)
    METRICS.register(HotFollowees(hottest))
    parts = MigrationSwitch(dynamodb, prefix, MIGRATIONS.SPREAD_FOLLOWERS), side_by_side()
    cache, searches = (kept.cache, kept.searches) if kept else (None, None)
    return dynamo_graph(dynamodb, prefix, *parts, hottest.add, cache, metrics.count_reads, searches)
