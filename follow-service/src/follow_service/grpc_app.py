"""The process that answers gRPC: wiring, and nothing else."""

import asyncio
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from contracts.ids import is_user_id
from contracts.image import own
from contracts.tables import MIGRATIONS
from follow_service import api
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_parts import side_by_side
from follow_service.grpc_calls import Calls
from follow_service.grpc_server import GraphServer
from follow_service.settings import GrpcSettings
from murmuration_edge.auth import Tokens
from murmuration_edge.jwks import fetch_keys
from murmuration_edge.leases import Leases
from murmuration_edge.redis_buckets import connect
from murmuration_edge.signing_keys import SigningKeys
from murmuration_runtime import admin, dynamo, logs, traces
from murmuration_runtime.metrics import announce_build
from murmuration_runtime.migration_switch import MigrationSwitch
from murmuration_runtime.readiness import Readiness

THREADS = 16
NAME = "follow-service"


def keep_answering(settings: GrpcSettings) -> int:
    """Answer until SIGTERM."""
    logs.write_json(settings.log_level)
    announce_build(NAME, settings.build_commit, own(NAME).labels())
    traces.start(NAME, settings)
    readiness = Readiness("dynamodb", "port")
    dynamodb, prefix = dynamo.client_for_requests(), settings.table_prefix
    in_parts = MigrationSwitch(dynamodb, prefix, MIGRATIONS.SPREAD_FOLLOWERS)
    graph = dynamo_graph(dynamodb, prefix, in_parts, side_by_side())
    keys = SigningKeys(partial(fetch_keys, settings.jwt_jwks_url, settings.jwt_issuer), readiness)
    shared = settings.limits_redis
    leases = Leases(settings.budgets, connect(shared.url, **shared.options()) if shared else None)
    budget = next(each for each in settings.budgets if each.name == "calls")
    threads = ThreadPoolExecutor(THREADS, "grpc")
    tokens = Tokens(settings, is_user_id, keys)
    calls = Calls(tokens, leases, budget, settings.request_seconds, api.PROBLEMS, threads)

    def are_stuck() -> bool:
        return calls.in_flight.are_stuck(time.monotonic(), settings.stuck_seconds)

    async def run() -> None:
        server = GraphServer(graph, calls, lambda: not readiness.waiting_for())
        await server.start(settings.host, settings.port, settings.tls)
        readiness.has("port")
        told_to_end = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
        await server.serve_until(told_to_end)

    admin.start(settings.host, settings.admin_port, readiness.waiting_for, are_stuck)
    for start in (keys.keep_fresh, leases.keep_settling, partial(readiness.keep_looking, {"dynamodb": graph.check})):
        start()
    asyncio.run(run())
    return 0
