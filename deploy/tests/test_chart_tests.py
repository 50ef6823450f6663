"""What `helm test` runs in the charts, here against the stack."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from murmuration_testkit import REPOSITORY, tokens
from murmuration_testkit.services import PROCESSES, SERVICES
from murmuration_testkit.waiting import eventually

pytestmark = pytest.mark.stack
EDGES = [name for name, service in SERVICES.items() if service.is_edge]


def script(file: str) -> str:
    """Return the Python that a chart's template holds."""
    found = re.search(r"Script\" -}}\n(.*?)\n{{- end }}", (REPOSITORY / file).read_text(), re.DOTALL)
    assert found
    assert "{{" not in found[1]
    return found[1]


def run(text: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run it as the pod does."""
    return subprocess.run(
        [sys.executable, "-c", text], env=variables, capture_output=True, text=True, check=False, timeout=60
    )


def addresses(service: str) -> dict[str, str]:
    """Return where the stack has one service's API and admin port."""
    process = PROCESSES[service]
    named = {"SERVICE": "PORT", "ADMIN": "ADMIN_PORT"}
    return {name: f"http://127.0.0.1:{os.environ[process.port_variable(port)]}" for name, port in named.items()}


def asked(service: str) -> str:
    """Return the path that the service's chart gives its test."""
    found = re.search(r'"path" "(.+?)"', (REPOSITORY / f"{service}/chart/templates/{service}.yaml").read_text())
    assert found
    return found[1]


EDGE_TEST = script("deploy/chart-library/templates/_test.tpl")


@pytest.fixture
def token_file(tmp_path: Path) -> str:
    """Return the file that a Secret with a token would be mounted as."""
    file = tmp_path / "token"
    file.write_text(tokens.of_stack().token("somebody") + "\n")
    return str(file)


@pytest.mark.parametrize("service", EDGES)
def test_an_edge_passes_its_charts_test(service, token_file):
    """With a token it makes a call that the store answers."""
    done = run(EDGE_TEST, **addresses(service), ASKED=asked(service), TOKEN_FILE=token_file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answered, from the store" in done.stdout


def test_without_a_token_it_says_what_was_not_tried():
    """Nobody takes the shorter test for the whole one."""
    done = run(EDGE_TEST, **addresses("follow-service"), ASKED=asked("follow-service"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "the store was not asked" in done.stdout


def test_it_fails_where_the_wrong_service_answers(token_file):
    """A Service that selects another's pods is found."""
    done = run(EDGE_TEST, **addresses("follow-service"), ASKED=asked("timeline-service"), TOKEN_FILE=token_file)
    assert done.returncode == 1
    assert "The test failed: a call without a token" in done.stderr


def test_the_gateway_passes_its_charts_test():
    """It reaches each edge; the local gateway has no admin port, so an edge's stands for it."""
    text = script("deploy/gateway/chart/templates/_test.tpl")
    paths = re.search(
        r"\$paths := list (.+?) }}", (REPOSITORY / "deploy/gateway/chart/templates/_test.tpl").read_text()
    )
    assert paths
    variables = {
        "ADMIN": addresses("follow-service")["ADMIN"],
        "SERVICE": os.environ["GATEWAY_URL"],
        "SCHEME": "http",
        "HOST": "localhost",
        "REDIRECTS": "",
        "PATHS": paths[1].replace('"', ""),
    }
    done = run(text, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("401") >= len(EDGES)
    assert run(text, **variables | {"SERVICE": addresses("follow-service")["SERVICE"]}).returncode == 1
    assert run(text, **variables | {"HOST": "nobody.example"}).returncode == 1
    assert "is not sent to HTTPS" in run(text, **variables | {"REDIRECTS": "yes"}).stderr


WORKER_TEST = script("deploy/chart-library/templates/_worker_test.tpl")
WORKERS = {
    "cdc-bridge": "cdc-bridge/chart/templates/cdc-bridge.yaml",
    "count-aggregator": "count-aggregator/chart/templates/count-aggregator.yaml",
    "fanout-worker": "fanout-worker/chart/templates/fanout-worker.yaml",
    "follow-finisher": "follow-service/chart/templates/finisher.yaml",
    "follow-grpc": "follow-service/chart/templates/grpc.yaml",
    "follow-keeper": "follow-service/chart/templates/keeper.yaml",
    "timeline-auditor": "fanout-worker/chart/templates/audit.yaml",
    "tweet-eraser": "tweet-service/chart/templates/eraser.yaml",
}


def metrics(process: str) -> str:
    """Return the metrics that the process's chart asks for."""
    found = re.search(r'"metrics" \(list (.+?)\)', (REPOSITORY / WORKERS[process]).read_text())
    assert found
    return found[1].replace('"', "")


def admin(process: str) -> str:
    """Return where the stack has a process's admin port."""
    return f"http://127.0.0.1:{os.environ[PROCESSES[process].port_variable('ADMIN_PORT')]}"


@pytest.mark.parametrize("process", WORKERS)
def test_a_worker_passes_its_charts_test(process):
    """It is ready, and tells its lag."""
    eventually(lambda: run(WORKER_TEST, ADMIN=admin(process), METRICS=metrics(process)).returncode, 0, within=60)


def test_a_workers_test_fails_where_another_answers():
    """A Service that selects another's pods is found."""
    done = run(WORKER_TEST, ADMIN=admin("tweet-eraser"), METRICS=metrics("cdc-bridge"))
    assert done.returncode == 1
    assert "/metrics has no cdc_bridge_published_until_ms" in done.stderr


def test_the_job_of_topics_passes_its_charts_test_and_fails_where_something_is_missing():
    """Nothing is missing in the stack, everything under a prefix that nobody used; of tables, test_tables.py tells."""
    command = [sys.executable, "-m", "contracts", "apply", "--dry-run"]
    assert subprocess.run(command, check=False, timeout=60).returncode == 0
    strange = {**os.environ, "KAFKA_TOPIC_PREFIX": "never-used."}
    assert subprocess.run(command, check=False, timeout=60, env=strange).returncode == 1
