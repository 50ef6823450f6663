"""The gRPC server: its methods, health, reflection, TLS, and how it ends.

Rule: health and reflection are for everybody who reaches the port, methods for callers with a token. Told to end, it
says so to whoever asks for its health, takes no new work, and is gone when what is in flight has been answered: a
stream ends after a page, and its client goes on elsewhere from that page's cursor.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from follow_service.graph import Graph
from follow_service.graph_pb2 import (
    DESCRIPTOR,
    FollowersPage,
    GetCountsRequest,
    IsFollowingRequest,
    ListFollowersRequest,
)
from follow_service.grpc_api import COST_OF_CURSOR, COSTS, followers_page, get_counts, is_following
from follow_service.grpc_calls import Calls, Context
from follow_service.grpc_tls import credentials
from murmuration_runtime.tls_files import TlsFiles

SERVICE: str = DESCRIPTOR.services_by_name["Graph"].full_name
MOST_CALLS = 500  # at once; more are refused by gRPC itself
LARGEST_REQUEST = 64 * 1024
DRAIN_SECONDS = 10.0
LOOK_SECONDS = 1.0  # how often readiness is told to whoever asks for health
OPTIONS: Sequence[tuple[str, int]] = (
    ("grpc.so_reuseport", 0),  # a second process on this port fails
    ("grpc.max_receive_message_length", LARGEST_REQUEST),
    ("grpc.max_connection_age_ms", 300_000),  # clients connect anew, and so find new pods
    ("grpc.max_connection_age_grace_ms", 60_000),
    ("grpc.keepalive_time_ms", 30_000),  # who does not answer is gone, and holds no stream
    ("grpc.keepalive_timeout_ms", 10_000),
)
Handler = Callable[[Any, Context], Any]


def handlers(graph: Graph, calls: Calls) -> grpc.GenericRpcHandler:
    """Return the methods over one graph."""

    def unary(name: str, rule: Callable[[Graph, str, Any], Any]) -> Handler:
        async def answer(request: Any, context: Context) -> Any:
            async with calls.call(name, context) as call:
                return await call.work(COSTS[name], lambda caller: rule(graph, caller, request))

        return answer

    async def list_followers(request: ListFollowersRequest, context: Context) -> None:
        asked = ListFollowersRequest()
        asked.CopyFrom(request)
        async with calls.call("ListFollowers", context) as call:
            more = True
            while more:
                cost = COSTS["ListFollowers"] + (COST_OF_CURSOR if asked.cursor else 0)
                page: FollowersPage = await call.work(cost, lambda caller: followers_page(graph, caller, asked))
                await context.write(page)
                asked.cursor = page.next_cursor
                more = bool(page.next_cursor)

    methods: dict[str, Any] = {
        "IsFollowing": _unary(unary("IsFollowing", is_following), IsFollowingRequest),
        "GetCounts": _unary(unary("GetCounts", get_counts), GetCountsRequest),
        "ListFollowers": grpc.unary_stream_rpc_method_handler(
            list_followers,
            request_deserializer=ListFollowersRequest.FromString,
            response_serializer=_bytes,
        ),
    }
    return grpc.method_handlers_generic_handler(SERVICE, methods)


def _unary(handler: Handler, request: Any) -> Any:
    return grpc.unary_unary_rpc_method_handler(
        handler, request_deserializer=request.FromString, response_serializer=_bytes
    )


def _bytes(message: Any) -> bytes:
    made: bytes = message.SerializeToString()
    return made


class GraphServer:
    """One server, from its start to its end; everything happens on the loop that starts it."""

    def __init__(self, graph: Graph, calls: Calls, is_ready: Callable[[], bool]) -> None:
        self._calls = calls
        self._is_ready = is_ready
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(options=OPTIONS, maximum_concurrent_rpcs=MOST_CALLS)
        self._server.add_generic_rpc_handlers((handlers(graph, calls),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)

    async def start(self, host: str, port: int, files: TlsFiles) -> int:
        """Answer from now on; return the port, which the system chooses if it is 0."""
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            bound = (
                self._server.add_secure_port(address, credentials(files))
                if files.certificate
                else self._server.add_insecure_port(address)
            )
        except RuntimeError as error:
            raise OSError(f"PORT {port} cannot be served on {host}: {error}") from error
        await self._server.start()
        return bound

    async def serve_until(self, told_to_end: asyncio.Event) -> None:
        """Keep health what readiness is, until told to end; then end."""
        while not told_to_end.is_set():
            serving = health_pb2.HealthCheckResponse.SERVING
            status = serving if self._is_ready() else health_pb2.HealthCheckResponse.NOT_SERVING
            for name in ("", SERVICE):
                await self._health.set(name, status)
            await _first(told_to_end, LOOK_SECONDS)
        await self.end()

    async def end(self) -> None:
        """Answer what is in flight, and nothing more."""
        self._calls.is_draining = True
        await self._health.enter_graceful_shutdown()
        await self._server.stop(DRAIN_SECONDS)


async def _first(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, or so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
