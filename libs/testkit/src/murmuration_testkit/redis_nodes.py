"""Redis processes of a test's own, on free ports: single ones, or a cluster. They are gone when the context ends.

They run as the stack's does, with deploy/local/redis.conf.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from redis import Redis, RedisError
from redis.crc import key_slot

from murmuration_testkit import REPOSITORY
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

SLOTS = 16_384
PATIENCE_MS = 15_000  # how long a master is silent before it counts as dead
IMPATIENCE_MS = 800  # where a test waits for it

AS_IN_OPERATIONS: Mapping[str, str | int] = {  # docs/operations.md
    "cluster-node-timeout": PATIENCE_MS,
    "cluster-require-full-coverage": "no",
    "cluster-replica-validity-factor": 0,
}
SOON = ("--repl-diskless-sync-delay", "0")


class Node:
    """One Redis, at the same address whenever it runs."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.redis: Any = Redis(port=self.port, decode_responses=True, socket_timeout=5)
        self._options = (*SOON, "--port", str(self.port), "--dir", str(directory), *options)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run, with whatever it finds on its disk."""
        command = ["setpriv", "--pdeathsig", "KILL", str(REPOSITORY / ".stack/parts/bin/redis-server")]
        command += [str(REPOSITORY / "deploy/local/redis.conf"), *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        eventually(lambda: _asked(self.redis.ping), True, within=20, every=0.02)

    def kill(self) -> None:
        """Kill -9 it."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stop it in the middle of whatever it does."""
        if self._process:
            os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if self._process:
            os.kill(self._process.pid, signal.SIGCONT)

    def alive(self) -> bool:
        """Tell whether it runs."""
        return self._process is not None


class Cluster:
    """Masters with the slots evenly among them, each with a replica or none."""

    def __init__(self, masters: list[Node], replicas: list[Node]) -> None:
        self.nodes = [*masters, *replicas]
        self.url = masters[0].url
        first = masters[0].redis
        for number, node in enumerate(self.nodes):
            node.redis.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            bus = node.redis.config_get("cluster-port")["cluster-port"]
            first.execute_command("CLUSTER MEET", "127.0.0.1", node.port, bus)
        ends = [SLOTS * n // len(masters) for n in range(len(masters) + 1)]
        for node, start, end in zip(masters, ends, ends[1:], strict=False):
            node.redis.execute_command("CLUSTER ADDSLOTSRANGE", start, end - 1)
        self.settle()
        for master, replica in zip(masters, replicas, strict=False):
            replica.redis.execute_command("CLUSTER REPLICATE", _id(master))
            linked = partial(_link, replica)
            eventually(linked, "up", within=20, every=0.05)
        self.settle()

    def settle(self) -> None:
        """Wait until all that run agree that all is well, and on who has what."""

        def well() -> bool:
            states = {_state(node) for node in self.nodes if node.alive()}
            return states == {("ok", str(len(self.nodes)))} and len(self._maps()) == 1

        eventually(well, True, within=30, every=0.05)

    def owner(self, key: str) -> Node:
        """Return the master that has the key's slot; all have to agree."""
        slot = key_slot(key.encode())
        (owners,) = self._maps()
        port = next(port for start, end, port in owners if start <= slot <= end)
        return next(node for node in self.nodes if node.port == port)

    def masters(self) -> list[Node]:
        """Return those that have slots."""
        return [node for node in self.nodes if node.alive() and not _master_of(node)]

    def replica_of(self, master: Node) -> Node:
        """Return its replica."""
        name = _id(master)
        return next(node for node in self.nodes if node.alive() and _master_of(node) == name)

    @contextmanager
    def moving(self, slot: int, source: Node, target: Node, keys: int = 0) -> Iterator[None]:
        """Move a slot: so many of its keys before the context begins, the others when it ends."""
        target.redis.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", _id(source))
        source.redis.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", _id(target))
        _migrate(slot, source, target, keys)
        yield
        while _migrate(slot, source, target, 10):
            pass
        for node in (target, *self.masters()):
            node.redis.execute_command("CLUSTER SETSLOT", slot, "NODE", _id(target))
        self.settle()

    def fail_over(self, master: Node) -> Node:
        """Kill -9 a master; return its replica when that has taken its place."""
        replica = self.replica_of(master)
        master.kill()
        eventually(lambda: replica.redis.role()[0], "master", within=30, every=0.02)
        return replica

    def _maps(self) -> set[tuple[tuple[int, int, int], ...]]:
        """Return what they think, who run, of who has what."""
        maps = [_asked(node.redis.execute_command, "CLUSTER SLOTS") or [] for node in self.nodes if node.alive()]
        return {tuple(sorted((start, end, master[1]) for start, end, master, *_ in each)) for each in maps}


@contextmanager
def redis_node(*options: str) -> Iterator[Node]:
    """Run one Redis with options like "--appendonly", "yes"."""
    with ExitStack() as stack:
        yield _started(stack, *options)


@contextmanager
def redis_cluster(
    masters: int = 3, *, replicated: bool = False, settings: Mapping[str, str | int] = MappingProxyType({})
) -> Iterator[Cluster]:
    """Run a cluster, with a replica for each master or none."""
    with ExitStack() as stack:
        nodes = []
        for _ in range(masters * (1 + replicated)):
            timeout, bus = IMPATIENCE_MS if replicated else PATIENCE_MS, free_port()
            options = {"cluster-enabled": "yes", "cluster-port": bus, "cluster-node-timeout": timeout, **settings}
            nodes.append(
                _started(stack, *(word for name, value in options.items() for word in (f"--{name}", str(value))))
            )
        yield Cluster(nodes[:masters], nodes[masters:])


def _started(stack: ExitStack, *options: str) -> Node:
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="redis-"))
    node = Node(Path(directory), *options)
    stack.callback(node.redis.close)
    stack.callback(node.kill)
    node.start()
    return node


def _migrate(slot: int, source: Node, target: Node, count: int) -> bool:
    keys = source.redis.execute_command("CLUSTER GETKEYSINSLOT", slot, count) if count else []
    if keys:
        source.redis.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
    return bool(keys)


def _asked(ask: Callable[..., Any], *words: str) -> Any:
    """Ask a node that may not answer."""
    try:
        return ask(*words)
    except RedisError:
        return None


def _state(node: Node) -> tuple[str, str]:
    info = _asked(node.redis.execute_command, "CLUSTER INFO") or {}
    return info.get("cluster_state", ""), info.get("cluster_known_nodes", "")


def _id(node: Node) -> str:
    return str(node.redis.execute_command("CLUSTER MYID"))


def _master_of(node: Node) -> str:
    """Return the id of the master that a replica has; nothing for a master."""
    (myself,) = (each for each in node.redis.cluster("NODES").values() if "myself" in each["flags"])
    return str(myself["master_id"].strip("-"))


def _link(replica: Node) -> str:
    return str(replica.redis.info("replication").get("master_link_status"))
