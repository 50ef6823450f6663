"""The stack as its users know it: what is killed comes back, what is run leaves nothing behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from redis import Redis

from contracts import TOPICS
from contracts.registry import Registry
from murmuration_testkit.ports import free_ports
from murmuration_testkit.waiting import eventually

REPO = Path(__file__).parents[2]
STACK = [sys.executable, str(REPO / "deploy/local/stack.py")]


def pid_of(process: str) -> int:
    control = Path(sys.executable).with_name("supervisorctl")
    command = [str(control), "-c", os.environ["STACK_SUPERVISOR_CONF"], "pid", process]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def is_another(process: str, pid: int) -> bool:
    return pid_of(process) not in (0, pid)


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@pytest.mark.stack
def test_a_killed_process_is_back_within_five_seconds_every_time():
    """No back-off and no giving up: the third kill is answered like the first."""
    for _ in range(3):
        killed = pid_of("gateway")
        os.kill(killed, signal.SIGKILL)
        eventually(partial(is_another, "gateway", killed), within=5)
        eventually(partial(listens, int(os.environ["GATEWAY_PORT"])), within=5)


@pytest.mark.stack(shared=False)
def test_a_run_ends_with_the_word_and_the_code_of_its_command():
    """So that pytest's summary closes `make test`, and CI sees its verdict."""
    name = f"test-{uuid4().hex[:8]}"
    command = ["sh", "-c", "echo $REDIS_PORT; exit 7"]
    run = subprocess.run(
        [*STACK, "run", "--name", name, "--only", "redis", "--", *command], capture_output=True, check=False
    )
    assert run.returncode == 7
    assert not listens(int(run.stdout.splitlines()[-1]))
    assert not list((REPO / ".stack").glob(f"{name}/*"))


@pytest.mark.stack(shared=False)
def test_a_stack_with_tls_answers_by_https_and_sends_plain_http_there():
    """`TLS=1`: clients find in their environment whom to trust, and the issuer's keys come by HTTPS, too."""
    asks = """
import os, urllib.request, urllib3
from murmuration_testkit.people import send
answer = send("GET", "/openapi.json")
plain = os.environ["GATEWAY_URL"].replace("https:", "http:") + "/v1/timeline?limit=1"
moved = urllib3.request("GET", plain, redirect=False)
with urllib.request.urlopen(os.environ["JWT_JWKS_URL"]) as keys:
    print(answer.status, answer.headers["Strict-Transport-Security"], keys.status, moved.status)
print(moved.headers["Location"] == plain.replace("http:", "https:"), os.environ["JWT_JWKS_URL"].partition(":")[0])
"""
    command = [
        *STACK,
        "run",
        "--name",
        f"test-{uuid4().hex[:8]}",
        "--only",
        "gateway",
        "--",
        sys.executable,
        "-c",
        asks,
    ]
    run = subprocess.run(command, env=os.environ | {"TLS": "1"}, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-2:] == ["200 max-age=60 200 308", "True https"], run.stderr


@pytest.mark.stack(shared=False)
def test_a_run_that_is_told_to_end_takes_its_stack_along():
    """CI's time-out leaves no stranger on the machine."""
    name = f"test-{uuid4().hex[:8]}"
    command = [
        *STACK,
        "run",
        "--name",
        name,
        "--only",
        "redis",
        "--",
        "sh",
        "-c",
        "echo; echo $REDIS_PORT; exec sleep 60",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        port = next(int(line) for line in run.stdout if line.strip().isdecimal())
        assert listens(port)
        run.terminate()
        assert run.wait(60) == 128 + signal.SIGTERM
    assert not listens(port)
    assert not list((REPO / ".stack").glob(f"{name}/*"))


@pytest.mark.stack(shared=False)
def test_what_is_stored_outlives_everything_but_reset():
    """Rows and schema ids survive a kill -9 of all, and down and up; Redis is cold then; reset leaves nothing."""
    name = f"test-{uuid4().hex[:8]}"
    stores = ("KAFKA", "KAFKA_CONTROLLER", "DYNAMODB", "REGISTRY", "REDIS")
    ports = {f"{store}_PORT": str(port) for store, port in zip(stores, free_ports(len(stores)), strict=True)}
    directory = REPO / ".stack" / name

    def stack(verb: str, *more: str) -> None:
        subprocess.run([*STACK, verb, "--name", name, *more], env={**os.environ, **ports}, check=True)

    def up() -> tuple[Any, list[int], Redis]:
        stack("up", "--only", "kafka,dynamodb,redis,registry")
        registry = Registry(f"http://127.0.0.1:{ports['REGISTRY_PORT']}/apis/ccompat/v7")
        ids = [registry.id_of(topic, version) for topic in TOPICS.values() for version in topic.versions]
        dynamodb = boto3.client("dynamodb", endpoint_url=f"http://127.0.0.1:{ports['DYNAMODB_PORT']}")
        return dynamodb, ids, Redis(port=int(ports["REDIS_PORT"]))

    try:
        dynamodb, ids, redis = up()
        dynamodb.put_item(TableName="users", Item={"user_id": {"S": "alice"}})
        redis.set("key", "value")
        redis.close()
        os.kill(int((directory / "supervisord.pid").read_text()), signal.SIGKILL)
        eventually(lambda: not any(listens(int(port)) for port in ports.values()), within=10)
        for after in ("kill -9", "down"):
            dynamodb, found, redis = up()
            assert found == ids, after
            assert "Item" in dynamodb.get_item(TableName="users", Key={"user_id": {"S": "alice"}}), after
            assert redis.dbsize() == 0, after
            redis.close()
            stack("down")
    finally:
        stack("reset")
    assert not directory.exists()


LEARNING = """
from pathlib import Path
import sys, time
from environment import PORTS, Stack
from supervision import Supervisor

stack = Stack("learning", Path(sys.argv[1]), PORTS)
conf = stack.directory / "supervisord.conf"

def write(**seconds):
    programs = [
        f"[program:{name}]\\ncommand=sleep {number}\\nautostart=false\\nstartsecs=0\\n"
        for name, number in seconds.items()
    ]
    head = "[supervisord]\\nnodaemon=true\\nlogfile=/dev/null\\nlogfile_maxbytes=0\\n"
    head += f"pidfile={stack.directory}/supervisord.pid\\n"
    head += f"[unix_http_server]\\nfile={stack.directory}/supervisor.sock\\n"
    head += "[rpcinterface:supervisor]\\n"
    head += "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\\n"
    conf.write_text(head + "".join(programs))

write(changed=600, stopped=601, same=602, gone=603)
supervisor = Supervisor(stack)
supervisor.boot(tied=True)
for name in ("changed", "same", "gone"):
    supervisor.start(name)
pids = {name: process.pid for name, process in supervisor.processes().items()}
write(changed=700, stopped=701, same=602, new=704)
supervisor.learn()
found = supervisor.processes()
print({name: bool(process.pid) for name, process in sorted(found.items())})
print(found["same"].pid == pids["same"], found["changed"].pid != pids["changed"])
supervisor.shut_down()
"""


def test_a_running_stack_takes_over_what_has_changed_and_stops_nothing_else(tmp_path):
    """What ran runs again, as it is now; what is new waits to be started; what is the same is not touched."""
    (tmp_path / "logs").mkdir()
    command = [sys.executable, "-c", LEARNING, str(tmp_path)]
    run = subprocess.run(command, cwd=REPO / "deploy/local", capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "{'changed': True, 'new': False, 'same': True, 'stopped': False}",
        "True True",
    ]


def test_a_taken_port_is_named_with_its_variable():
    """Before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        command = [*STACK, "up", "--name", f"test-{uuid4().hex[:8]}", "--only", "redis"]
        environment = {**os.environ, "REDIS_PORT": port}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert f"port {port} is taken: free it, or choose another with REDIS_PORT=" in run.stderr


def test_a_budget_of_the_stack_can_be_lowered_from_outside():
    """Else nobody could try a 429 on a laptop; the others stay as wide as they are."""
    tells = "from environment import configured; told = configured('nobodys').environment()\n"
    tells += "print(told['LIMIT_TWEETS_BURST'], told['LIMIT_TWEETS_A_DAY'])"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIMIT_")}
    run = subprocess.run(
        [sys.executable, "-c", tells],
        cwd=REPO / "deploy/local",
        env=environment | {"LIMIT_TWEETS_BURST": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "3 1000000000\n"
