"""The gateway as its image starts it: settings in, an nginx out that answers by HTTPS and finds its edges."""

import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from murmuration_gateway.configuration import AddressError, complete, resolver

from murmuration_testkit import REPOSITORY
from murmuration_testkit.certificates import Authority
from murmuration_testkit.ports import free_ports
from murmuration_testkit.waiting import eventually

COMMAND = [sys.executable, "-m", "murmuration_gateway"]
SEARCH = ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"]


@pytest.mark.parametrize(
    ("address", "completed"),
    [
        ("follow-service", "follow-service.shop.svc.cluster.local:80"),
        ("follow-service:8080", "follow-service.shop.svc.cluster.local:8080"),
        ("follow-service.team", "follow-service.team.svc.cluster.local:80"),
        ("follows.example.com:81", "follows.example.com:81"),
        ("follows.:81", "follows:81"),
        ("10.0.0.7:81", "10.0.0.7:81"),
    ],
)
def test_names_are_completed_as_the_resolver_of_the_pod_would(address, completed):
    """What nginx asks has no search domains, and an operator writes the names that work everywhere else."""
    assert complete(address, SEARCH) == completed


@pytest.mark.parametrize("address", ["", "http://follow-service", "a b", "a;b", "a:b", "a/b", "a:80; return 200"])
def test_what_is_no_address_is_refused(address):
    """A setting is not a way to write nginx's configuration."""
    with pytest.raises(AddressError):
        complete(address, SEARCH)


def test_name_servers_are_those_of_the_pod():
    """A name is looked up again after five seconds, so that an edge's new address is found."""
    text = (
        "search shop.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\nnameserver fd00::a\noptions ndots:5\n"
    )
    line, search = resolver(text)
    assert line.splitlines()[0].strip() == "resolver 10.96.0.10 [fd00::a] valid=5s;"
    assert search == ["shop.svc.cluster.local", "svc.cluster.local"]
    assert resolver("search nowhere\n") == ("", ["nowhere"])


def test_a_wrong_setting_stops_the_start_with_its_name():
    """All that is wrong is named at once, and nothing is listened on."""
    settings = {"PATH": os.environ["PATH"], "PORT": "eighty", "TLS_KEY_FILE": "/nowhere"}
    ended = subprocess.run(COMMAND, env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    for word in ("PORT", "ADMIN_PORT", "TLS_CERTIFICATE_FILE", "/nowhere", "README"):
        assert word in ended.stderr


@pytest.mark.stack
def test_it_answers_by_https_from_the_edges_until_it_is_told_to_quit(tmp_path):
    """Routes, problems, probes and the end: what the chart relies on, with the local stack's nginx and its edges."""
    authority = Authority(tmp_path)
    server = authority.certify("server")
    port, admin_port = free_ports(2)
    settings = {
        "PATH": f"{REPOSITORY}/.stack/parts/bin:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path),
        "PORT": str(port),
        "ADMIN_PORT": str(admin_port),
        "TLS_CERTIFICATE_FILE": str(server.certificate),
        "TLS_KEY_FILE": str(server.key),
        "FOLLOW_SERVICE": f"127.0.0.1:{os.environ['FOLLOW_SERVICE_PORT']}",
        "BUILD_COMMIT": "abc",
    }
    context = ssl.create_default_context(cafile=str(authority.file))

    def get(url: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(url, timeout=5, context=context) as answer:  # noqa: S310
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def healthy() -> bool:
        assert process.poll() is None
        try:
            return get(f"http://127.0.0.1:{admin_port}/healthz")[0] == 200
        except urllib.error.URLError:
            return False

    process = subprocess.Popen(COMMAND, env=settings, stdout=subprocess.PIPE, text=True)
    try:
        eventually(healthy)
        status, body = get(f"https://127.0.0.1:{port}/v1/users/nobody")
        assert (status, json.loads(body)["status"]) == (401, 401)
        assert get(f"https://127.0.0.1:{port}/v1/timeline?limit=2")[0] == 502
        assert get(f"https://127.0.0.1:{port}/follow-service/metrics")[0] == 404
        assert 'build_info{service="gateway",version=' in get(f"http://127.0.0.1:{admin_port}/metrics")[1]
        process.send_signal(signal.SIGQUIT)
        said, _ = process.communicate(timeout=10)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    logged = {(line["path"], line["status"]) for line in map(json.loads, said.splitlines())}
    assert {("/v1/users/nobody", 401), ("/v1/timeline", 502), ("/follow-service/metrics", 404)} <= logged
