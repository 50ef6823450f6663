"""The server itself: whom it lets in, what it says of itself, and how it ends."""

import itertools
import os
import shutil
import socket
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import grpc
import pytest
from google.protobuf import descriptor_pb2
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from follow_service import graph_pb2
from follow_service.grpc_server import SERVICE
from follow_service.settings import GrpcSettings
from murmuration_runtime.settings import read
from murmuration_runtime.tls_files import TlsFiles
from murmuration_testkit.certificates import Authority
from murmuration_testkit.waiting import eventually

from .conftest import ISSUER, SETTINGS
from .grpc_calling import bind, client, serving, told
from .rows import follow


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A server's certificate, a client's, and one of an authority that nobody knows."""
    ours = Authority(tmp_path_factory.mktemp("ours"))
    other = Authority(tmp_path_factory.mktemp("other"))
    return SimpleNamespace(
        ours=ours, server=ours.certify("server"), client=ours.certify("client"), stranger=other.certify("stranger")
    )


def tls(authority, pair=None):
    key, certificate = (pair.key.read_bytes(), pair.certificate.read_bytes()) if pair else (None, None)
    return grpc.ssl_channel_credentials(authority.file.read_bytes(), key, certificate)


def comes_in(port, credentials=None):
    """Tell whether a client gets an answer, of whatever kind."""
    with client(port, ISSUER, credentials) as rpc:
        try:
            return rpc.following("viewer", "nobody", timeout=3) == {"nobody": False}
        except grpc.RpcError as error:
            assert error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)  # noqa: PT017
            return False


def test_with_a_certificate_the_server_answers_by_tls_alone(graph, certificates):
    files = TlsFiles(None, str(certificates.server.certificate), str(certificates.server.key))
    with serving(graph, SETTINGS, ISSUER, files=files) as server:
        assert comes_in(server.port, tls(certificates.ours))
        assert not comes_in(server.port)


def test_with_an_authority_of_clients_only_its_clients_come_in(graph, certificates):
    """Also to health and reflection; a token is needed all the same."""
    files = TlsFiles(str(certificates.ours.file), str(certificates.server.certificate), str(certificates.server.key))
    with serving(graph, SETTINGS, ISSUER, files=files) as server:
        good = tls(certificates.ours, certificates.client)
        assert comes_in(server.port, good)
        for bad in (tls(certificates.ours), tls(certificates.ours, certificates.stranger), None):
            assert not comes_in(server.port, bad)
            with client(server.port, ISSUER, bad) as rpc, pytest.raises(grpc.RpcError):
                rpc.health()
        with client(server.port, ISSUER, good) as rpc:
            eventually(rpc.health, "SERVING")
            with pytest.raises(grpc.RpcError) as error:
                rpc.following(None, "nobody")
        assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_a_certificate_is_renewed_without_a_restart(graph, certificates, tmp_path):
    """New connections have the new one; while the file is away, the last that was there serves."""
    paths = [tmp_path / "server.crt", tmp_path / "server.key"]
    for path, text in zip(paths, certificates.server, strict=True):
        shutil.copy(text, path)
    next_one = Authority(tmp_path / "next")
    with serving(graph, SETTINGS, ISSUER, files=TlsFiles(None, *map(str, paths))) as server:
        assert comes_in(server.port, tls(certificates.ours))
        for path, text in zip(paths, next_one.certify("server"), strict=True):
            shutil.copy(text, path)
        assert comes_in(server.port, tls(next_one))
        paths[0].unlink()
        assert comes_in(server.port, tls(next_one))
        assert not comes_in(server.port, tls(certificates.ours))


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"GRPC_CERTIFICATE_FILE": "server.crt"}, "GRPC_KEY_FILE is not: set both"),
        ({"GRPC_CA_FILE": "ca.pem"}, "GRPC_CERTIFICATE_FILE is not: clients show theirs"),
        ({"GRPC_CERTIFICATE_FILE": "none", "GRPC_KEY_FILE": "server.key"}, "GRPC_CERTIFICATE_FILE names"),
    ],
)
def test_files_that_do_not_go_together_stop_the_start(certificates, monkeypatch, files, fault):
    folder = certificates.ours.file.parent
    for name, value in {"PORT": 0, "ADMIN_PORT": 0, "JWT_ISSUER": "http://x", "JWT_AUDIENCE": "y"}.items():
        monkeypatch.setenv(name, str(value))
    for name in os.environ.keys() & {"LIMITS_REDIS_URL", "LIMITS_REDIS_CA_FILE"}:
        monkeypatch.delenv(name)
    for name, file in files.items():
        monkeypatch.setenv(name, str(folder / file))
    with pytest.raises(SystemExit, match=fault):
        read(GrpcSettings)


def test_health_is_what_readiness_is(graph):
    """For the whole server and for its service; no token is asked for."""
    with serving(graph, SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        for name in ("", SERVICE):
            eventually(lambda name=name: rpc.health(name), "SERVING")
        server.is_ready = False
        eventually(lambda: rpc.health(SERVICE), "NOT_SERVING")
        with pytest.raises(grpc.RpcError) as error:
            rpc.health("another")
        assert error.value.code() is grpc.StatusCode.NOT_FOUND


def test_reflection_tells_the_whole_contract(graph):
    """As grpcurl asks for it: which services there are, and the .proto of ours."""
    questions = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
    ]
    with serving(graph, SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        stub = reflection_pb2_grpc.ServerReflectionStub(rpc.channel)
        listed, file = stub.ServerReflectionInfo(iter(questions), timeout=10)
    assert {each.name for each in listed.list_services_response.service} == {
        SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection",
    }  # fmt: skip
    ours = descriptor_pb2.FileDescriptorProto()
    graph_pb2.DESCRIPTOR.CopyToProto(ours)
    assert descriptor_pb2.FileDescriptorProto.FromString(file.file_descriptor_response.file_descriptor_proto[0]) == ours


def test_a_server_that_is_told_to_end_answers_what_is_in_flight(graph, aws, join):
    """A call is answered; a stream ends after a page, and goes on elsewhere without loss; health says so at once."""
    join("star", "viewer")
    fans = [f"f{n:02}" for n in range(60)]
    join(*fans)
    for n, fan in enumerate(reversed(fans)):
        aws.put("followers", follow("star", fan, n))
    reached, go_on, pages = threading.Event(), threading.Event(), itertools.count()

    def rows(*asked):
        if next(pages) == 2:
            reached.set()
            assert go_on.wait(20)
        return graph.lists.rows(*asked)

    slow = replace(graph, lists=SimpleNamespace(rows=rows, among=graph.lists.among))
    got = []
    with serving(slow, SETTINGS, ISSUER, request_seconds=30) as server, client(server.port, ISSUER) as rpc:
        stream = rpc.ask("viewer", "ListFollowers", user_id="star", page_size=10)
        watching = rpc.watch()
        eventually(lambda: next(watching), "SERVING")
        assert reached.wait(20)
        server.tell_to_end()
        eventually(lambda: next(watching), "NOT_SERVING")
        began = time.monotonic()
        go_on.set()
        with pytest.raises(grpc.RpcError) as error:
            got.extend(stream)
        assert (error.value.code(), told(error.value)["problem"]) == (grpc.StatusCode.UNAVAILABLE, "unavailable")
    assert time.monotonic() - began < 5
    given = [row.user_id for page in got for row in page.followers]
    assert len(given) == 30
    with serving(graph, SETTINGS, ISSUER) as server, client(server.port, ISSUER) as rpc:
        given += [who for who, _ in rpc.followers("viewer", "star", cursor=got[-1].next_cursor)]
    assert given == fans


def test_a_port_that_is_taken_is_named(graph):
    """And not shared, as gRPC would by itself."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"PORT {port} cannot be served"):
            bind(graph, SETTINGS, ISSUER, port)
