"""How a run comes into Redis: lists under its own version, and when all are there the one key that names it.

Rule: no reader sees a run before all of it is written, on nodes none of which lost anything meanwhile, while no other
job forgot any of it; and no earlier run takes the place of a later one, unless somebody says so.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from redis import RedisCluster

from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Nodes
from murmuration_suggested import layout
from murmuration_suggested.runs import Run
from murmuration_suggested.scripts import BEGIN, FORGET, NOTE, SWITCH, WRITE

AT_ONCE = 500  # lists in one call: about a megabyte
SECONDS = 5.0  # that a node may take for it


class LostError(Exception):
    """Some of a run may be gone, lost by a node or forgotten by another job: it has to be written again."""


class OlderError(Exception):
    """A later run counts already."""


@dataclass(frozen=True)
class Begun:
    """What was so when a run began to be written: who writes it, the history of each node, which version counted."""

    writer: str
    histories: Mapping[str, str]
    counts: str | None


class SuggestedWriter:
    """Writes runs. Safe to repeat at any point."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def begin(self) -> Begun:
        """Begin to write a run: from now on no job that began before can switch to its own."""
        histories, writer = self._histories(), uuid.uuid4().hex
        with self._nodes.errors_named():
            counts = self._nodes.call(BEGIN, [layout.RUN, layout.WRITER], (writer, layout.RUN_SECONDS))
        return Begun(writer, histories, Run.from_text(counts).version if counts else None)

    def forget_others(self, begun: Begun, version: str) -> int:
        """Forget all lists but those of this run and of the one that counts; return how many there were."""
        kept = {version, begun.counts, layout.ONLINE}
        forgotten = 0
        with self._nodes.errors_named():
            keys = self._nodes.client.scan_iter(match=layout.LISTS, count=AT_ONCE)
            others = ((key,) for key in keys if layout.version_of(key) not in kept)
            while some := list(islice(others, AT_ONCE)):
                # Asked after they were found: they are not of a job that began since.
                if self._nodes.call(NOTE, [layout.WRITER], ()) != begun.writer:
                    raise LostError(f"another job began to write while run {version} was written")
                forgotten += sum(count for _, count in self._nodes.gather(FORGET, (), some))
        return forgotten

    def write(self, version: str, lists: Iterable[tuple[str, str]]) -> int:
        """Write users' lists, as texts; return how many."""
        items = ((layout.suggested(user_id, version), text) for user_id, text in lists)
        written = 0
        while some := list(islice(items, AT_ONCE)):
            with self._nodes.errors_named():
                self._nodes.gather(WRITE, (layout.RUN_SECONDS,), some)
            written += len(some)
        return written

    def switch(self, run: Run, begun: Begun, *, force: bool = False) -> None:
        """Have a run count from now on, all of which was written since this was begun.

        Forced it counts even if a later one does already.
        """
        if self._histories() != begun.histories:
            raise LostError(f"Redis lost something while run {run.version} was written")
        seen = " ".join(begun.histories.values())
        args = (seen, begun.writer, run.version, run.to_text(), layout.RUN_SECONDS, int(force))
        with self._nodes.errors_named():
            answer = self._nodes.call(SWITCH, [layout.RUN, layout.WRITER], args)
        if answer == "lost":
            raise LostError(f"Redis lost something while run {run.version} was written")
        if answer == "another":
            raise LostError(f"another job began to write while run {run.version} was written")
        if answer == "older":
            raise OlderError(f"a later run than {run.version} counts already")
        with self._nodes.errors_named():
            self._nodes.gather(FORGET, (), [(layout.REFUSED,)])

    def refuse(self, run: Run) -> None:
        """Let it be known that a run was not switched to."""
        with self._nodes.errors_named():
            self._nodes.gather(WRITE, (layout.RUN_SECONDS,), [(layout.REFUSED, run.to_text())])

    def _histories(self) -> Mapping[str, str]:
        """Return the history of each node: another one later means that it may have lost something."""
        with self._nodes.errors_named():
            return {name: str(node.info("replication")["master_replid"]) for name, node in self._masters().items()}

    def _masters(self) -> dict[str, Any]:
        client = self._nodes.client
        if not isinstance(client, RedisCluster):
            return {"": client}
        client.nodes_manager.initialize()  # a replica may have taken a master's place
        found: Any = client.get_primaries()  # type: ignore[no-untyped-call]
        if not found:
            raise RedisAwayError("the Redis Cluster names no master")
        return {node.name: node.redis_connection for node in found}


def connect(url: str, **options: Any) -> Nodes:
    """Make a client for one that writes much at once, and that nobody waits for."""
    return Nodes(url, connect_timeout=2, timeout=SECONDS, **options)
