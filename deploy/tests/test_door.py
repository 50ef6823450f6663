"""What the gateway lets in, and what it refuses by itself: a gateway as its image starts it, before an edge of ours."""

import json
import resource
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from murmuration_gateway import configuration
from murmuration_gateway.door import Door, DoorError, read
from murmuration_gateway.problems import PROBLEMS

from murmuration_edge.gunicorn_worker import REFUSALS
from murmuration_edge.headers import OF_ANSWERS
from murmuration_edge.problems import HTTP, UNAVAILABLE
from murmuration_testkit.certificates import Authority
from murmuration_testkit.ports import free_ports
from murmuration_testkit.waiting import eventually

from .own_gateway import PATH, own_gateway

pytestmark = pytest.mark.stack
APP = "https://app.example"
HOST = b"Host: api.example\r\nConnection: close\r\n\r\n"
FOLLOW = b"GET /v1/users/a HTTP/1.1\r\n"
ADDRESSES = st.ip_addresses(v=4).filter(lambda each: str(each) != "255.255.255.255")  # which is nobody's
LINE = "GET /v1/users/ HTTP/1.1"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """Run one with hosts, an origin, and a proxy that is believed: ourselves."""
    directory = tmp_path_factory.mktemp("gateway")
    said = {
        "HOSTS": "api.example 127.0.0.1",
        "CORS_ORIGINS": f"{APP} http://localhost:3000",
        "TRUSTED_PROXIES": "127.0.0.1",
    }
    with own_gateway(directory, **said) as running:
        yield running


def is_problem(answer, status, code):
    """Hold an answer to the form that every problem has."""
    assert answer.status == status, answer.body
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    problem = answer.json
    assert {name: problem[name] for name in ("type", "code", "status")} == {
        "type": f"/problems/{code}",
        "code": code,
        "status": status,
    }
    assert problem["title"]
    assert problem["detail"]
    assert problem["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /v1/users/\xc3\xa4 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a?name=\xc3\xa4 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a\x01 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/a b HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/%00 HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /v1/users/%zz HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"GET /../v1/users/a HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"get /v1/users/a HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"\r\n", 400, "bad-request"),
        (FOLLOW + b"Host: e/v\r\n\r\n", 400, "bad-request"),
        (FOLLOW + b"Host: api.example\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"X-A: a\0b\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"Content-Length: x\r\n" + HOST, 400, "bad-request"),
        (FOLLOW + b"Transfer-Encoding: gzip\r\n" + HOST, 501, "not-implemented"),
        (b"GET /v1/users/a HTTP/9.1\r\n" + HOST, 505, "not-implemented"),
        (b"GET /v1//users/a HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /v2/users/a HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /metrics HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"GET /problem HTTP/1.1\r\n" + HOST, 404, "no-route"),
        (b"AB /v1/users/a HTTP/1.1\r\n" + HOST, 405, "method-not-allowed"),
        (b"A" * 21 + b" /v1/users/a HTTP/1.1\r\n" + HOST, 405, "method-not-allowed"),
        (b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 65537\r\n" + HOST, 413, "body-too-large"),
        (FOLLOW + b"X-A: " + b"a" * 8190 + b"\r\n" + HOST, 431, "headers-too-large"),
        (FOLLOW + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 8000) for n in range(5)) + HOST, 431, "headers-too-large"),
        (b"GET /v1/users/" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST, 414, "uri-too-long"),
        (b"GET /v1/timeline HTTP/1.1\r\n" + HOST, 503, "unavailable"),
        (FOLLOW + b"Host: evil.example\r\nConnection: close\r\n\r\n", 421, "wrong-host"),
        (b"GET http://evil.example/v1/users/a HTTP/1.1\r\n" + HOST, 421, "wrong-host"),
        (b"GET /v1/users/a HTTP/1.0\r\n\r\n", 421, "wrong-host"),
    ],
)
def test_whatever_it_refuses_is_a_problem(gateway, request_bytes, status, code):
    """Nginx has pages of its own, in HTML, for requests that it cannot even read."""
    answer = gateway.send(request_bytes)
    is_problem(answer, status, code)
    assert answer.headers["Retry-After"] == ("1" if status == 503 else None)
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_request_line_of_8190_bytes_is_handed_on_and_a_longer_one_is_not(gateway):
    """What the gateway lets through gunicorn takes, too."""
    fits = "a" * (8190 - len(LINE))
    assert gateway.ask("GET", f"/v1/users/{fits}").json["path"] == f"/v1/users/{fits}"
    is_problem(gateway.ask("GET", f"/v1/users/{fits}a"), 414, "uri-too-long")


def test_the_edge_is_told_no_host_but_one_that_was_asked_for_rightly(gateway):
    """Of two hosts the one of the request line counts; the other must not find its way into a link."""
    told = gateway.send(
        b"GET http://API.example:80/v1/users/a HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    assert told.json["headers"]["Host"] == "api.example"
    told = gateway.ask("GET", "/v1/users/a", X_Forwarded_Host="evil.example").json["headers"]
    assert "evil.example" not in told.values()


def test_without_a_list_any_host_is_answered(tmp_path):
    """HOSTS is a setting; a gateway that has none is behind somebody who knows."""
    with own_gateway(tmp_path) as running:
        assert running.ask("GET", "/v1/users/a", Host="anything.example").status == 200


def test_a_request_and_its_trace_have_their_ids_at_the_edge_and_in_the_log(tmp_path):
    """Both ids lead from the client's complaint to the edge's lines."""
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with own_gateway(tmp_path) as running:
        parent = f"00-{trace}-00f067aa0ba902b7-01"
        told = running.ask("GET", "/v1/users/a?q=1", traceparent=parent, X_Request_ID="abc-1").json["headers"]
        assert (told["traceparent"], told["X-Request-ID"]) == (parent, "abc-1")
        running.ask("GET", "/v1/users/b", traceparent='"evil"')
        running.ask("GET", "/v1/users/" + "c" * 8000)
    lines = [json.loads(line) for line in running.said.splitlines() if line.startswith("{")]
    found = {line["path"][:20]: line for line in lines}
    assert (found["/v1/users/a"]["trace_id"], found["/v1/users/a"]["request_id"]) == (trace, "abc-1")
    assert found["/v1/users/b"]["trace_id"] == ""
    assert max(len(line["path"]) for line in lines) == 300


def test_a_preflight_of_a_known_origin_is_answered_here_without_a_token(gateway):
    """Browsers send no token with it; any edge would refuse it."""
    asked = {"Origin": APP, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"}
    answer = gateway.ask("OPTIONS", "/v1/users/me", **asked)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == APP
    assert {"GET", "HEAD", "POST", "PUT", "DELETE"} == {*answer.headers["Access-Control-Allow-Methods"].split(", ")}
    allowed = answer.headers["Access-Control-Allow-Headers"].lower()
    assert {"authorization", "content-type", "idempotency-key", "if-none-match", "traceparent"} <= {
        *allowed.split(", ")
    }
    assert "Origin" in answer.headers["Vary"]
    strange = gateway.ask("OPTIONS", "/v1/users/me", **asked | {"Origin": "https://evil.example"})
    assert strange.json["method"] == "OPTIONS", "the edge answers it, as any OPTIONS"
    assert strange.headers["Access-Control-Allow-Origin"] is None
    assert gateway.ask("OPTIONS", "/v1/users/me", Origin=APP).json["method"] == "OPTIONS"


@pytest.mark.parametrize("path", ["/v1/users/a", "/v1/timeline", "/nothing"])
def test_a_known_origin_may_read_every_answer_and_its_headers(gateway, path):
    """Problems, too; caches are told that answers differ by origin."""
    answer = gateway.ask("GET", path, Origin=APP)
    assert answer.headers["Access-Control-Allow-Origin"] == APP
    exposed = {*answer.headers["Access-Control-Expose-Headers"].split(", ")}
    assert exposed == {*OF_ANSWERS}
    assert answer.headers["Vary"] == "Origin"
    for origin in ("https://evil.example", f"{APP}.evil.example", "null", None):
        answer = gateway.ask("GET", path, **({"Origin": origin} if origin else {}))
        assert answer.headers["Access-Control-Allow-Origin"] is None
        assert answer.headers["Vary"] == "Origin"


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


def test_nobody_is_believed_who_is_no_trusted_proxy(tmp_path):
    """Else each request could name an address of its own."""
    with own_gateway(tmp_path, ADDRESS_RATE="1", ADDRESS_BURST="1") as running:
        statuses = [running.ask("GET", "/v1/users/a", X_Forwarded_For=f"203.0.113.{n}").status for n in range(4)]
    assert statuses[-1] == 429


def test_an_address_holds_no_more_requests_open_than_it_may(tmp_path):
    """Slowly sent bodies are requests, too."""
    with own_gateway(tmp_path, ADDRESS_CONNECTIONS="2") as running, ExitStack() as open_ones:
        slow = [open_ones.enter_context(running.connect()) for _ in range(2)]
        for each in slow:
            each.sendall(b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 60000\r\n" + HOST)

        def status_meanwhile() -> int:
            for each in slow:
                each.sendall(b"a")
            return running.ask("GET", "/v1/users/a").status

        eventually(status_meanwhile, 429, within=20)


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


def test_slow_clients_do_not_keep_others_out(tmp_path):
    """More of them than nginx has connections and files for by default, each in its headers or its body."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, min(most, 4096)), most))
    wide = dict.fromkeys(("ADDRESS_RATE", "ADDRESS_BURST", "ADDRESS_CONNECTIONS"), "10000")
    with own_gateway(tmp_path, **wide) as running, ExitStack() as open_ones:
        for number in range(1300):
            slow = open_ones.enter_context(running.connect())
            slow.sendall(FOLLOW[:-2] if number % 2 else b"POST /v1/tweets HTTP/1.1\r\nContent-Length: 100\r\n" + HOST)
        began = time.monotonic()
        assert {running.ask("GET", "/v1/users/a").status for _ in range(20)} == {200}
        assert time.monotonic() - began < 5, "none waits until a slow one is cut off, after ten seconds"


def test_headers_have_ten_seconds_however_steadily_they_come(tmp_path):
    """A byte a second would else be enough to stay for hours."""
    with own_gateway(tmp_path) as running, running.connect() as slow:
        began = time.monotonic()
        slow.settimeout(0.5)
        slow.sendall(FOLLOW + b"X-A: ")

        def is_over() -> bool:
            try:
                slow.sendall(b"a")
                return slow.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        eventually(is_over, within=20)
        assert 9 < time.monotonic() - began < 14


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Make an authority whose certificates our clients believe."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def context(authority):
    """Trust that authority, and speak HTTP/1.1."""
    return ssl.create_default_context(cafile=str(authority.file))


@pytest.fixture(scope="module")
def tls(authority, tmp_path_factory):
    """Run a gateway that answers by HTTPS alone, and redirects there."""
    (plain_port,) = free_ports(1)
    pair = authority.certify("server")
    said = {
        "TLS_CERTIFICATE_FILE": str(pair.certificate),
        "TLS_KEY_FILE": str(pair.key),
        "HTTP_PORT": str(plain_port),
        "HTTPS_ONLY": "true",
        "HSTS_SECONDS": "31536000",
        "HOSTS": "api.example 127.0.0.1",
    }
    with own_gateway(tmp_path_factory.mktemp("tls"), **said) as running:
        yield running, plain_port


def test_plain_http_is_sent_to_https_whichever_port_it_came_to(tls):
    """With the method and the query it had; but only to a host that is ours."""
    running, plain_port = tls
    for port in (plain_port, running.port):
        answer = running.ask("POST", "/v1/users/a?b=c", port=port, Host="api.example:80")
        assert answer.status == 308
        assert answer.headers["Location"] == "https://api.example/v1/users/a?b=c"
        assert answer.headers["Strict-Transport-Security"] is None, "a browser ignores it there, and rightly"
        is_problem(running.ask("GET", "/v1/users/a", port=port, Host="evil.example"), 421, "wrong-host")


def test_https_is_answered_with_the_promise_to_stay(tls, context):
    """Answers and problems have HSTS, and the edge is told that the client speaks HTTPS."""
    running, _ = tls
    answer = running.send(FOLLOW + HOST, context=context)
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.json["headers"]["X-Forwarded-Proto"] == "https"
    answer = running.send(b"GET /nothing HTTP/1.1\r\n" + HOST, context=context)
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_http_2_is_spoken_over_tls(tls, authority):
    running, _ = tls
    wants_h2 = ssl.create_default_context(cafile=str(authority.file))
    wants_h2.set_alpn_protocols(["h2", "http/1.1"])
    with running.connect(context=wants_h2) as connection:
        assert connection.selected_alpn_protocol() == "h2"


def test_behind_a_proxy_that_has_the_certificate_its_word_counts(tmp_path):
    """X-Forwarded-Proto of a trusted proxy says what the client speaks; of anybody else it says nothing."""
    said = {"HTTPS_ONLY": "true", "HOSTS": "api.example", "HSTS_SECONDS": "60", "TRUSTED_PROXIES": "127.0.0.1"}
    with own_gateway(tmp_path, **said) as running:
        answer = running.ask("GET", "/v1/users/a", Host="api.example", X_Forwarded_Proto="https")
        assert (answer.status, answer.headers["Strict-Transport-Security"]) == (200, "max-age=60")
        answer = running.ask("GET", "/v1/users/a", Host="api.example", X_Forwarded_Proto="http")
        assert (answer.status, answer.headers["Location"]) == (308, "https://api.example/v1/users/a")
        assert answer.headers["Strict-Transport-Security"] is None
    (tmp_path / "other").mkdir()
    with own_gateway(tmp_path / "other", TRUSTED_PROXIES="10.0.0.0/8") as running:
        told = running.ask("GET", "/v1/users/a", X_Forwarded_Proto="https").json["headers"]
        assert told["X-Forwarded-Proto"] == "http"


@pytest.mark.parametrize(
    ("given_settings", "named"),
    [
        ({"HOSTS": "a;b"}, "HOSTS"),
        ({"HOSTS": "api.example; return 200"}, "HOSTS"),
        ({"CORS_ORIGINS": "*"}, "CORS_ORIGINS"),
        ({"CORS_ORIGINS": "https://app.example/"}, "CORS_ORIGINS"),
        ({"TRUSTED_PROXIES": "10.0.0.0/99"}, "TRUSTED_PROXIES"),
        ({"ADDRESS_RATE": "0"}, "ADDRESS_RATE"),
        ({"HSTS_SECONDS": "long"}, "HSTS_SECONDS"),
        ({"HTTPS_ONLY": "yes"}, "HTTPS_ONLY"),
        ({"HTTPS_ONLY": "true", "TRUSTED_PROXIES": "10.0.0.0/8"}, "HOSTS"),
        ({"HTTPS_ONLY": "true", "HOSTS": "api.example"}, "certificate"),
    ],
)
def test_a_setting_that_is_wrong_is_named(given_settings, named):
    """And no setting is a way to write nginx's configuration."""
    with pytest.raises(DoorError, match=named):
        read(given_settings)


def test_nginx_takes_what_all_settings_together_become(tmp_path):
    """Nginx -t, which also finds what is only a warning."""
    everything = Door(["a.example"], [APP], ["10.0.0.0/8", "fd00::/8"], 1, 2, 3, https_only=True, hsts_seconds=4)
    text = configuration.fill(
        str(tmp_path), "worker_processes 2;", "listen 127.0.0.1:9;", lambda _: "10.0.0.1:9", everything
    )
    (tmp_path / "nginx.conf").write_text(text)
    command = ["nginx", "-t", "-q", "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, env={"PATH": PATH}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_problem_that_edges_have_too_has_their_code():
    """Who reads `code` need not know who answered."""
    ours = {each.status: each.code for each in PROBLEMS}
    of_edges = [*HTTP.values(), UNAVAILABLE, *(problem for problem, _ in REFUSALS.values())]
    theirs = {each.status: each.code for each in of_edges}
    assert {status: ours[status] for status in ours.keys() & theirs.keys()} == {
        status: theirs[status] for status in ours.keys() & theirs.keys()
    }


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("TRACE", "/v1/users/me", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("TRACE", "/v1/users/a/follow", "DELETE, OPTIONS, POST"),
        ("CONNECT", "/v1/timeline?limit=3", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_method_that_nginx_refuses_by_itself_is_told_which_there_are(gateway, method, path, allowed):
    """As the edge tells for every other."""
    answer = gateway.ask(method, path)
    is_problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == allowed
