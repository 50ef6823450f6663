"""How much one address may ask of the gateway, and what an address is."""

import socket
import subprocess
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from murmuration_gateway import configuration
from murmuration_gateway.door import Door

from murmuration_testkit.ports import free_ports
from murmuration_testkit.waiting import eventually

from .own_gateway import HOST, PATH, is_problem, own_gateway

pytestmark = pytest.mark.stack(shared=False)
APP = "https://app.example"
ADDRESSES = st.ip_addresses(v=4).filter(lambda each: str(each) != "255.255.255.255")  # which is nobody's


def test_an_address_that_asks_too_often_is_told_when_to_come_again(tmp_path):
    """Before any token is read; others go on, also those of other networks behind the same proxy."""
    narrow = {"ADDRESS_RATE": "1", "ADDRESS_BURST": "3", "TRUSTED_PROXIES": "127.0.0.0/8"}
    with own_gateway(tmp_path, **narrow) as running:

        def ask(address):
            return running.ask("GET", "/v1/users/a", X_Forwarded_For=address)

        answers = [ask(f"2001:db8:0:1::{n:x}") for n in range(1, 7)]
        assert [each.status for each in answers[:4]] == [200] * 4
        is_problem(answers[-1], 429, "too-many-requests")
        assert answers[-1].headers["Retry-After"] == "1"
        assert answers[-1].headers["RateLimit-Policy"] == '"address";q=1;w=1'
        assert answers[-1].headers["RateLimit"] == '"address";r=0;t=1'
        assert ask("2001:db8:0:2::1").status == 200
        assert ask("203.0.113.7").status == 200
        assert ask("203.0.113.7").json["headers"]["X-Forwarded-For"] == "203.0.113.7"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/nope", {}, 404),
        ("GET", "/problem", {}, 404),
        ("AB", "/v1/users/a", {}, 405),
        ("GET", "/v1/users/ä", {}, 400),
        ("GET", "/v1/users/a", {"Host": "evil.example"}, 421),
        ("GET", "/v1/users/a", {"X_Forwarded_Proto": "http"}, 308),
        ("OPTIONS", "/v1/users/a", {"Origin": APP, "Access_Control_Request_Method": "PUT"}, 204),
        ("GET", "/docs", {}, 200),
        ("POST", "/docs", {}, 405),
    ],
)
def test_what_is_refused_or_answered_here_counts_as_a_request(tmp_path, method, path, headers, status):
    """Looking for paths that are not there is a flood as any other."""
    said = {"ADDRESS_RATE": "1", "ADDRESS_BURST": "3", "TRUSTED_PROXIES": "127.0.0.1"}
    said |= {"HOSTS": "127.0.0.1", "HTTPS_ONLY": "true", "CORS_ORIGINS": APP}
    with own_gateway(tmp_path, **said) as running:
        answers = [running.ask(method, path, **{"X_Forwarded_Proto": "https"} | headers) for _ in range(6)]
        assert [each.status for each in answers[:4]] == [status] * 4
        is_problem(answers[-1], 429, "too-many-requests")


def test_a_client_inside_the_trusted_networks_could_name_any_address(tmp_path):
    """So they are to hold the proxies' addresses and no others: what stands left of another address is not read."""
    for trusted, limited in (("127.0.0.0/8", "198.51.100.1"), ("127.0.0.1/32", "127.9.9.9")):
        (tmp_path / limited).mkdir()
        with own_gateway(tmp_path / limited, TRUSTED_PROXIES=trusted) as running:
            told = running.ask("GET", "/v1/users/a", X_Forwarded_For="198.51.100.1, 127.9.9.9").json["headers"]
        assert told["X-Forwarded-For"] == limited


def test_nobody_is_believed_who_is_no_trusted_proxy(tmp_path):
    """Else each request could name an address of its own."""
    with own_gateway(tmp_path, ADDRESS_RATE="1", ADDRESS_BURST="1") as running:
        statuses = [running.ask("GET", "/v1/users/a", X_Forwarded_For=f"203.0.113.{n}").status for n in range(4)]
    assert statuses[-1] == 429


def test_an_address_holds_no_more_requests_open_than_it_may(tmp_path):
    """Slowly sent bodies are requests, too."""
    with own_gateway(tmp_path, ADDRESS_CONNECTIONS="2") as running, ExitStack() as open_ones:

        def status_beside_one_more() -> int:
            slow = open_ones.enter_context(running.connect())
            slow.sendall(b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 60000\r\n" + HOST + b"a")
            return running.ask("GET", "/v1/users/a").status

        eventually(status_beside_one_more, 429, within=20)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Run an nginx that answers with the key by which an address is limited; return what asks it."""
    directory = tmp_path_factory.mktemp("keys")
    (port,) = free_ports(1)
    text = configuration.fill(
        str(directory),
        "master_process off;",
        f"listen 127.0.0.1:{port};",
        lambda _: "127.0.0.1:9",
        Door(trusted_proxies=["127.0.0.1"], address_rate=100_000, address_burst=100_000),
        server="location = /key { default_type application/octet-stream; return 200 $address; }",
    )
    (directory / "nginx.conf").write_text(text)
    command = ["nginx", "-e", "stderr", "-c", str(directory / "nginx.conf")]
    environment = {"PATH": PATH}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    def key(address: str) -> bytes:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            head = f"GET /key HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: {address}\r\n\r\n"
            connection.sendall(head.encode())
            received = b""
            while part := connection.recv(4096):
                received += part
        return received.partition(b"\r\n\r\n")[2]

    def is_up() -> bool:
        try:
            return key("10.0.0.1") != b""
        except ConnectionRefusedError:
            return False

    eventually(is_up)
    yield key
    process.terminate()
    process.wait(10)


@settings(max_examples=300, deadline=None)
@given(address=st.ip_addresses(v=6) | ADDRESSES)
def test_an_address_is_limited_by_itself_or_its_network_of_64_bits(keys, address):
    """Who has an IPv6 address has 2^64 of them."""
    mapped = getattr(address, "ipv4_mapped", None)
    assert keys(str(address)) == (mapped or address).packed[:8]


@given(address=ADDRESSES)
@settings(max_examples=50, deadline=None)
def test_an_ipv4_address_that_is_written_as_ipv6_is_itself(keys, address):
    """Else all of IPv4 would be one network."""
    assert keys(f"::ffff:{address}") == address.packed
