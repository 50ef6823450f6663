"""The stack as its users know it: what is killed comes back, what is run leaves nothing behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

REPO = Path(__file__).parents[2]
STACK = [sys.executable, str(REPO / "deploy/local/stack.py")]


def within(seconds: float, condition: Callable[[], object]) -> bool:
    """Tell whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


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
        assert within(5, partial(is_another, "gateway", killed))
        assert within(5, partial(listens, int(os.environ["GATEWAY_PORT"])))


@pytest.mark.stack
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


@pytest.mark.stack
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
        assert run.wait(20) == 128 + signal.SIGTERM
    assert not listens(port)
    assert not list((REPO / ".stack").glob(f"{name}/*"))


def test_a_taken_port_is_named_with_its_variable():
    """Before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        command = [*STACK, "up", "--name", f"test-{uuid4().hex[:8]}", "--only", "redis"]
        environment = {**os.environ, "REDIS_PORT": port}
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert f"port {port} is taken: free it, or choose another with REDIS_PORT=" in run.stderr
