"""create_app: wiring, and nothing else."""

import time
from collections.abc import Callable
from functools import partial

from flask import Flask

from contracts.ids import is_user_id
from contracts.image import own
from follow_service import api
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_parts import Switch, side_by_side
from follow_service.graph import Graph
from follow_service.hot_metrics import HotFollowees
from follow_service.hottest import Hottest
from follow_service.settings import Settings
from murmuration_edge.app import edge_app
from murmuration_edge.auth import Keys
from murmuration_runtime import dynamo
from murmuration_runtime.metrics import METRICS
from murmuration_runtime.readiness import Readiness
from murmuration_runtime.settings import read

SERVICE = "follow-service"


def create_app(
    settings: Settings | None = None,
    *,
    graph: Graph | None = None,
    keys: Keys | None = None,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> Flask:
    """Build the service on real parts; a test may bring its own."""
    settings = settings or read(Settings)
    graph = graph or _graph(settings.table_prefix)
    readiness = Readiness("dynamodb")
    return edge_app(
        SERVICE,
        settings,
        api.operations(graph, now, settings.following_cap),
        api.PROBLEMS,
        readiness,
        contracts=own(SERVICE).labels(),
        is_user_id=is_user_id,
        keys=keys,
        at_start=[partial(readiness.keep_looking, {"dynamodb": graph.check})],
    )


def _graph(table_prefix: str) -> Graph:
    dynamodb, hottest = dynamo.client_for_requests(), Hottest(time.monotonic)
    METRICS.register(HotFollowees(hottest))
    return dynamo_graph(dynamodb, table_prefix, Switch(dynamodb, table_prefix), side_by_side(), hottest.add)
