"""The stack's processes: stopped, started, killed and paused, as operators and accidents do."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contracts import TOPICS
from murmuration_runtime.kafka import KafkaAwayError, KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit.probes import get
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

STORES = ("kafka", "dynamodb", "redis", "registry")


def control(*words: str) -> str:
    """Tell the stack's supervisor something."""
    supervisorctl = str(Path(sys.executable).with_name("supervisorctl"))
    command = [supervisorctl, "-c", os.environ["STACK_SUPERVISOR_CONF"], *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120).stdout


def pid(process: str) -> int:
    """Return the process's pid; 0 while it does not run."""
    answer = control("pid", process).strip()
    return int(answer) if answer.isdecimal() else 0


def kill(process: str) -> bool:
    """Kill -9 it and all that it started; the supervisor starts it again. False if it was not running."""
    return _signal(os.killpg, process, signal.SIGKILL)


def terminate(process: str) -> bool:
    """Ask it to end; the supervisor starts it again. False if it was not running."""
    return send(process, signal.SIGTERM)


def send(process: str, number: signal.Signals) -> bool:
    """Send it a signal, and nothing to what it started. False if it was not running."""
    return _signal(os.kill, process, number)


def pause(process: str) -> bool:
    """Stop it and all that it started, in the middle of whatever they do. False if it was not running."""
    return _signal(os.killpg, process, signal.SIGSTOP)


def resume(process: str) -> bool:
    """Let it go on."""
    return _signal(os.killpg, process, signal.SIGCONT)


def freeze(send: Callable[[signal.Signals], object], seconds: float) -> None:
    """Stop something in the middle of whatever it does, and let it go on after a while."""
    send(signal.SIGSTOP)
    time.sleep(seconds)
    send(signal.SIGCONT)


@contextmanager
def stopped(*processes: str) -> Iterator[None]:
    """Stop processes for as long as the context lasts, and have the services ready again after it."""
    control("stop", *processes)
    try:
        yield
    finally:
        control("start", *processes)
        all_ready()


def page(process: str, path: str) -> tuple[int, str]:
    """Ask a process's admin port, which the gateway does not show; status 0 while nobody answers."""
    port = os.environ[PROCESSES[process].port_variable("ADMIN_PORT")]
    return get(f"http://127.0.0.1:{port}{path}", timeout_s=10)


def waiting_for(process: str) -> list[str]:
    """Return what a process says it waits for; one that listens and does not answer is not up."""
    status, answer = page(process, "/readyz")
    if not status:
        return [f"{process} is not up"]
    missing: list[str] = json.loads(answer)["waiting_for"]
    return missing


def all_ready(within: float = 90.0) -> None:
    """Wait until every store can be reached, and every service says that it is ready.

    A service that was ready stays so while a store is away; so the stores are asked by themselves.
    """
    eventually(lambda: [name for name in STORES if not _listens(name)], [], within, every=0.3)
    eventually(lambda: {name: missing for name in PROCESSES if (missing := waiting_for(name))}, {}, within, every=0.3)


def caught_up(group: str) -> None:
    """Wait until a group of workers has acknowledged all that is on the topics it reads."""
    topics = KafkaTopics(read(KafkaSettings), [topic for topic in TOPICS.values() if group in topic.consumers])

    def behind() -> object:
        try:
            return {place: count for place, count in topics.behind_each(group, topics.partitions).items() if count}
        except KafkaAwayError as error:
            return str(error)

    eventually(behind, {}, within=60, every=0.2)


def _listens(store: str) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", int(os.environ[f"{store.upper()}_PORT"])), 2):
        return True
    return False


def _signal(deliver: Callable[[int, int], None], process: str, number: signal.Signals) -> bool:
    target = pid(process)
    try:
        if target:
            deliver(target, number)
    except ProcessLookupError:  # it ended by itself a moment ago
        return False
    return bool(target)
