"""From nothing, or from whatever is left, to a stack that is ready."""

import subprocess
import sys
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path

import gateway_tls
import secure
from environment import KAFKAS, MODE, REPO, Stack, StackError, is_elsewhere, listening, remember, taken
from generate import gateway_conf, supervisor_conf
from issuer import publish_keys
from ready import port_of, ports_of, waiting_for
from supervision import STAGES, STORES, Supervisor

READY_DEADLINE_S = 120
MOST_STARTS = 5
REPORT_EVERY_S = 3
TAIL_LINES = 20
KAFKA_CLUSTER_ID = "bXVybXVyYXRpb24tbG9jYQ"
say = partial(print, flush=True)


def up(stack: Stack, wanted: Collection[str], *, tied: bool = False) -> None:
    """Start what is wanted and not running, provision the stores, and return when all of it is ready."""
    began = time.monotonic()
    supervisor = Supervisor(stack)
    if supervisor.running() and is_elsewhere(stack):
        raise StackError(f"stack {stack.name} runs on other ports; `make down` first")
    missing = set(wanted) - {process.name for process in supervisor.processes().values() if process.pid}
    refuse_taken_ports(stack, missing)
    if supervisor.running():
        take_over(stack, supervisor)
    else:
        prepare(stack)
        supervisor.boot(tied=tied)
    for stage in STAGES:
        for name in stage:
            if name in missing:
                supervisor.start(name)
        until_ready(stack, [name for name in stage if name in wanted], began)
        if stage == ("registry",) and set(STORES) <= set(wanted):
            provision(stack, began)
    say(f"stack {stack.name} is up{'' if missing else ' already'}")


def take_over(stack: Stack, supervisor: Supervisor) -> None:
    """Have a running stack take over what has changed in the list of services, the gateway's routes included."""
    gateway = stack.directory / "gateway/nginx.conf"
    routes = gateway.read_text()
    prepare(stack)
    supervisor.learn()
    if gateway.read_text() != routes and supervisor.processes()["gateway"].pid:
        supervisor.stop("gateway")
        supervisor.start("gateway")


def refuse_taken_ports(stack: Stack, processes: Collection[str]) -> None:
    """Name every port that a process needs and somebody else holds."""
    variables = [variable for process in sorted(processes) for variable in ports_of(process)]
    held = [
        f"port {stack.ports[name]} is taken: free it, or choose another with {name}=…"
        for name in variables
        if taken(stack.ports[name], listening(name))
    ]
    if held:
        raise StackError("\n".join(held))


def prepare(stack: Stack) -> None:
    """Make the directory with all that a process expects to find; what is there already stays."""
    for name in ("logs", "dynamodb", "gateway", *KAFKAS):
        (stack.directory / name).mkdir(parents=True, exist_ok=True)
    remember(stack)
    publish_keys(stack.directory / "issuer")
    if stack.tls:
        gateway_tls.prepare(stack)
    properties = "deploy/local/kafka.properties"
    if stack.secure:
        secure.prepare(stack)
        (stack.directory / MODE).write_text(stack.secure)
        plain, properties = (REPO / properties).read_text(), f"{stack.directory}/kafka.properties"
        Path(properties).write_text(secure.kafka_properties(stack, plain))
    (stack.directory / "gateway/nginx.conf").write_text(gateway_conf(stack))
    (stack.directory / "supervisord.conf").write_text(supervisor_conf(stack))
    users = secure.kafka_format(stack) if stack.secure else []
    for name in KAFKAS:
        if not (stack.directory / name / "meta.properties").exists():
            ours = [f"{variable}={value}" for variable, value in stack.kafka(name).items()]
            tool = ["env", *ours, ".stack/parts/bin/java", "-cp", ".stack/parts/kafka/*", "kafka.tools.StorageTool"]
            words = ["format", "-t", KAFKA_CLUSTER_ID, "-c", properties, *users]
            to_the_end(stack, "kafka-format", [*tool, *words])


def provision(stack: Stack, began: float) -> None:
    """Create tables, topics and subjects from the files that describe them."""
    to_the_end(stack, "tables", [sys.executable, "deploy/tables.py"])
    to_the_end(stack, "contracts", [sys.executable, "-m", "contracts", "apply"])
    if stack.secure:
        reader = f"{secure.READER}:{secure.READS}=User:{secure.READER}"
        to_the_end(stack, "acls", [sys.executable, "-m", "contracts", "acls", "--apply", "--reader", reader])
    say(f"{time.monotonic() - began:6.1f} s  tables, topics and subjects are in place")


def to_the_end(stack: Stack, name: str, command: list[str]) -> None:
    """Run a command that ends, with its output in the log of that name."""
    with log_of(stack, name).open("wb") as out:
        code = subprocess.call(command, cwd=REPO, env=stack.environment(), stdout=out, stderr=out)
    if code:
        raise StackError(f"{name} failed:\n{tail(stack, name)}")


def until_ready(stack: Stack, processes: Collection[str], began: float) -> None:
    """Return when all are ready, saying meanwhile who is not and why; give up on one that keeps ending."""
    supervisor = Supervisor(stack)
    waiting = dict.fromkeys(processes, "")
    pids: dict[str, set[int]] = {name: set() for name in processes}
    said = time.monotonic()
    deadline = said + READY_DEADLINE_S
    while waiting:
        known = supervisor.processes()
        for name in list(waiting):
            pids[name].add(known[name].pid)
            if reason := waiting_for(name, stack):
                waiting[name] = reason
            else:
                del waiting[name]
                say(f"{time.monotonic() - began:6.1f} s  {name} is ready at {stack.address(port_of(name))}")
        if lost := [name for name in waiting if len(pids[name]) > MOST_STARTS]:
            raise StackError(
                "\n".join(f"{name} keeps ending; its log closes with\n{tail(stack, name)}" for name in lost)
            )
        reasons = ", ".join(f"{name} ({reason})" for name, reason in waiting.items())
        if waiting and time.monotonic() > deadline:
            logs = "\n".join(f"--- log of {name}\n{tail(stack, name)}" for name in waiting)
            raise StackError(f"not ready after {READY_DEADLINE_S} s: {reasons}\n{logs}")
        if waiting and time.monotonic() - said > REPORT_EVERY_S:
            said = time.monotonic()
            say(f"{said - began:6.1f} s  waiting for {reasons}")
        time.sleep(0.1)


def log_of(stack: Stack, name: str) -> Path:
    """Give the file with what a process says."""
    return stack.directory / f"logs/{name}.log"


def tail(stack: Stack, name: str) -> str:
    """Give the last lines of a log."""
    log = log_of(stack, name)
    return "\n".join(log.read_text(errors="replace").splitlines()[-TAIL_LINES:]) if log.exists() else "(no log)"
