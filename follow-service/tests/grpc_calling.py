"""A gRPC server of a test's own, on a thread with a loop, and a client of it."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from contracts.ids import is_user_id
from follow_service import api, graph_pb2
from follow_service.grpc_calls import Calls
from follow_service.grpc_server import SERVICE, GraphServer
from murmuration_edge.auth import Tokens
from murmuration_edge.leases import Leases
from murmuration_runtime.tls_files import TlsFiles
from murmuration_testkit.tokens import Issuer

MOST_S = 20.0  # for a machine under load
NO_FILES = TlsFiles()


class Server:
    """It runs for as long as the context of `serving` lasts."""

    def __init__(self, graph, settings, keys, request_seconds):
        budget = next(each for each in settings.budgets if each.name == "calls")
        self.is_ready = True
        self.port = 0
        self._threads = ThreadPoolExecutor(4)
        calls = (Tokens(settings, is_user_id, keys), Leases(settings.budgets, None), budget, request_seconds)
        self.calls = Calls(*calls, api.PROBLEMS, self._threads)
        self._graph = graph

    async def run(self, files, started):
        self._loop, self._told_to_end = asyncio.get_running_loop(), asyncio.Event()
        server = GraphServer(self._graph, self.calls, lambda: self.is_ready)
        self.port = await server.start("127.0.0.1", 0, files)
        started.set()
        await server.serve_until(self._told_to_end)

    def serve(self, files, started):
        asyncio.run(self.run(files, started))

    def tell_to_end(self):
        self._loop.call_soon_threadsafe(self._told_to_end.set)


def bind(graph, settings, keys, port):
    """Start a server on this port, and end it."""

    async def run():
        server = GraphServer(graph, Server(graph, settings, keys, 1).calls, lambda: True)
        await server.start("127.0.0.1", port, NO_FILES)
        await server.end()

    asyncio.run(run())


@contextmanager
def serving(graph, settings, keys, *, files=NO_FILES, request_seconds=2.0):
    """Serve a graph."""
    server, started = Server(graph, settings, keys, request_seconds), threading.Event()
    thread = threading.Thread(target=server.serve, args=(files, started), daemon=True)
    thread.start()
    assert started.wait(MOST_S)
    try:
        yield server
    finally:
        if thread.is_alive():
            server.tell_to_end()
        thread.join(MOST_S)
        server._threads.shutdown()  # noqa: SLF001
        assert not thread.is_alive()


class Client:
    """Asks a server in somebody's name."""

    def __init__(self, channel, issuer: Issuer):
        self._issuer = issuer
        self.channel = channel
        made = {}
        for method in graph_pb2.DESCRIPTOR.services_by_name["Graph"].methods:
            kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            request, answer = (getattr(graph_pb2, it.name) for it in (method.input_type, method.output_type))
            send, read = request.SerializeToString, answer.FromString
            made[method.name] = request, kind(f"/{SERVICE}/{method.name}", send, read)
        self._methods = made

    def ask(self, who, method, /, timeout=MOST_S, metadata=(), **about):
        request, call = self._methods[method]
        bearer = [("authorization", self._issuer.bearer(who)["Authorization"])] if who else []
        return call(request(**about), timeout=timeout, metadata=[*bearer, *metadata])

    def following(self, who, *user_ids, **more):
        answer = self.ask(who, "IsFollowing", user_ids=user_ids, **more)
        return {each.user_id: each.following for each in answer.answers}

    def counts(self, who, *user_ids):
        answer = self.ask(who, "GetCounts", user_ids=user_ids)
        return {each.user_id: (each.followers, each.following) for each in answer.counts}

    def followers(self, who, user_id, **more):
        pages = self.ask(who, "ListFollowers", user_id=user_id, **more)
        return [(row.user_id, row.followed_at) for page in pages for row in page.followers]

    def health(self, service=""):
        asked = health_pb2_grpc.HealthStub(self.channel).Check(
            health_pb2.HealthCheckRequest(service=service), timeout=MOST_S
        )
        return health_pb2.HealthCheckResponse.ServingStatus.Name(asked.status)

    def watch(self, service=""):
        """Give what the server says of its health, whenever it changes."""
        told = health_pb2_grpc.HealthStub(self.channel).Watch(
            health_pb2.HealthCheckRequest(service=service), timeout=MOST_S
        )
        for each in told:
            yield health_pb2.HealthCheckResponse.ServingStatus.Name(each.status)


@contextmanager
def client(port, issuer, credentials=None):
    """Connect to a server on this machine."""
    address = f"localhost:{port}" if credentials else f"127.0.0.1:{port}"
    made = grpc.secure_channel(address, credentials) if credentials else grpc.insecure_channel(address)
    with made as channel:
        yield Client(channel, issuer)


def told(error):
    """Return what a client is told of a refusal."""
    return {name: value for name, value in error.trailing_metadata() if name != "x-request-id"}
