"""HTTPS, and what becomes of plain HTTP: a gateway with a certificate, or behind a proxy that has one."""

import ssl

import pytest

from murmuration_testkit.certificates import Authority
from murmuration_testkit.ports import free_ports

from .own_gateway import FOLLOW, HOST, is_problem, own_gateway

pytestmark = pytest.mark.stack(shared=False)


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
        assert (answer.body, len(answer.headers.get_all("X-Request-ID"))) == (b"", 1)
        assert answer.headers["Location"] == "https://api.example/v1/users/a?b=c"
        assert answer.headers["Strict-Transport-Security"] is None, "a browser ignores it there, and rightly"
        is_problem(running.ask("GET", "/v1/users/a", port=port, Host="evil.example"), 421, "wrong-host")


def test_redirects_count_whichever_port_they_are_for(authority, tmp_path):
    """Who asks by plain HTTP alone is limited, too."""
    plain_port, pair = free_ports(1)[0], authority.certify("limited")
    said = {"TLS_CERTIFICATE_FILE": str(pair.certificate), "TLS_KEY_FILE": str(pair.key), "HTTPS_ONLY": "true"}
    said |= {"HTTP_PORT": str(plain_port), "HOSTS": "127.0.0.1", "ADDRESS_RATE": "1", "ADDRESS_BURST": "3"}
    with own_gateway(tmp_path, **said) as running:
        answers = [running.ask("GET", "/v1/users/a", port=port) for port in [plain_port, running.port] * 3]
        assert [each.status for each in answers[:4]] == [308] * 4
        is_problem(answers[-1], 429, "too-many-requests")
        is_problem(answers[-2], 429, "too-many-requests")


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
