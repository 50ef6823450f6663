"""gRPC on the stack: the example of docs/grpc.md as it stands there, and an end within seconds."""

import os
import re
import signal
import subprocess
import sys
import time

import grpc
import pytest
from grpc_tools import protoc

from follow_service import graph_pb2
from follow_service.grpc_server import DRAIN_SECONDS, SERVICE
from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person
from murmuration_testkit.ports import free_ports
from murmuration_testkit.probes import get
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

PROTO = "murmuration/graph/v1/graph.proto"
PAGE = (REPOSITORY / "docs/grpc.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def address():
    return f"127.0.0.1:{os.environ[PROCESSES['follow-grpc'].port_variable('PORT')]}"


def ask(where, person):
    """Ask whether somebody follows nobody."""
    request, answer = graph_pb2.IsFollowingRequest, graph_pb2.IsFollowingResponse
    with grpc.insecure_channel(where) as channel:
        call = channel.unary_unary(f"/{SERVICE}/IsFollowing", request.SerializeToString, answer.FromString)
        sent = [("authorization", person.headers["Authorization"])]
        return call(request(user_ids=["nobody"]), metadata=sent, timeout=10)


def test_the_example_runs(tmp_path):
    """With stubs that protoc makes as the page says."""
    assert PROTO in EXAMPLES["sh"]
    made = [f"-I{REPOSITORY / 'follow-service/proto'}", f"--python_out={tmp_path}", f"--grpc_python_out={tmp_path}"]
    assert protoc.main(["protoc", *made, PROTO]) == 0
    robin, friend = Person("Robin").join(), Person("Nova").join()
    robin.follow(friend)
    eventually(lambda: friend.counts()[0], 1)
    (tmp_path / "example.py").write_text(EXAMPLES["python"], "utf-8")
    token = robin.headers["Authorization"].split()[1]
    environment = {"ADDRESS": address(), "TOKEN": token, "FRIEND": friend.user_id, "PATH": os.environ["PATH"]}
    command = [sys.executable, "-W", "error", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{friend.user_id} is followed",
        "nobody is not followed",
        f"{friend.user_id} has 1 followers",
        robin.user_id,
    ]


@pytest.fixture
def process():
    """A process of the test's own, on the stack's stores."""
    port, admin_port = free_ports(2)
    ports = {"HOST": "127.0.0.1", "PORT": str(port), "ADMIN_PORT": str(admin_port)}
    command = [sys.executable, "-m", "follow_service", "grpc"]
    with subprocess.Popen(command, env={**os.environ, **ports}, stderr=subprocess.PIPE, text=True) as started:
        try:
            eventually(lambda: get(f"http://127.0.0.1:{admin_port}/readyz")[0], 200, within=60)
            yield started, f"127.0.0.1:{port}", admin_port
        finally:
            started.kill()


def test_sigterm_ends_it_within_seconds(process):
    """With status 0, and what it measured and logged is complete until then."""
    started, where, admin_port = process
    assert not ask(where, Person("Robin")).answers[0].following
    _, metrics = get(f"http://127.0.0.1:{admin_port}/metrics")
    assert 'grpc_request_seconds_count{code="OK",method="IsFollowing"} 1.0' in metrics
    began = time.monotonic()
    started.send_signal(signal.SIGTERM)
    _, log = started.communicate(timeout=30)
    assert started.returncode == 0
    assert time.monotonic() - began < DRAIN_SECONDS
    assert '"method": "IsFollowing"' in log
