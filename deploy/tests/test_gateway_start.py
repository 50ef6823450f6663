"""The gateway as its image starts it: settings in, an nginx out that finds its edges."""

import os
import signal
import subprocess

import pytest
from murmuration_gateway.configuration import AddressError, complete, resolver

from murmuration_testkit import probes

from .own_gateway import COMMAND, own_gateway

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
    settings = {"PATH": os.environ["PATH"], "PORT": "eighty", "TLS_KEY_FILE": "/nowhere", "HOSTS": "a;b"}
    ended = subprocess.run(COMMAND, env=settings, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    for word in ("PORT", "ADMIN_PORT", "TLS_CERTIFICATE_FILE", "/nowhere", "HOSTS", "README"):
        assert word in ended.stderr


@pytest.mark.stack(shared=False)
def test_it_has_probes_and_metrics_of_its_own_and_ends_when_it_is_told_to(tmp_path):
    """What the chart relies on: an admin port that the public one knows nothing of, and SIGQUIT."""
    with own_gateway(tmp_path, BUILD_COMMIT="abc") as gateway:
        for page in ("healthz", "readyz", "metrics"):
            assert probes.get(f"http://127.0.0.1:{gateway.admin_port}/{page}")[0] == 200
            assert gateway.ask("GET", f"/{page}").status == 404
        metrics = probes.get(f"http://127.0.0.1:{gateway.admin_port}/metrics")[1]
        assert 'build_info{service="gateway",version=' in metrics
        assert 'commit="abc"' in metrics
        gateway.process.send_signal(signal.SIGQUIT)
        assert gateway.process.wait(10) == 0
