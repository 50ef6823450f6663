"""How a run comes into Redis: lists under its own version, and when all are there the one key that names it.

Rule: no reader sees a run before all of it is written, on nodes none of which lost anything meanwhile; and no earlier
run takes the place of a later one, unless somebody says so.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from redis import RedisCluster

from murmuration_runtime.errors import RedisAwayError
from murmuration_runtime.redis_nodes import Nodes
from murmuration_suggested import layout
from murmuration_suggested.runs import Run
from murmuration_suggested.scripts import FORGET, SWITCH, WRITE

AT_ONCE = 500  # lists in one call: about a megabyte
SECONDS = 5.0  # that a node may take for it


class LostError(Exception):
    """A node lost what it held since the run began to be written: it has to be written again."""


class OlderError(Exception):
    """A later run counts already."""


class SuggestedWriter:
    """Writes runs. Safe to repeat at any point."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def histories(self) -> Mapping[str, str]:
        """Return the history of each node: another one later means that it may have lost something."""
        with self._nodes.errors_named():
            return {name: str(node.info("replication")["master_replid"]) for name, node in self._masters().items()}

    def forget_others(self, *versions: str) -> int:
        """Forget the lists of all other runs; return how many there were."""
        kept = {*versions, layout.ONLINE}
        forgotten = 0
        with self._nodes.errors_named():
            keys = self._nodes.client.scan_iter(match=layout.LISTS, count=AT_ONCE)
            others = ((key,) for key in keys if layout.version_of(key) not in kept)
            while some := list(islice(others, AT_ONCE)):
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

    def switch(self, run: Run, histories: Mapping[str, str], *, force: bool = False) -> None:
        """Have a run count from now on, all of which was written while the nodes had these histories.

        Forced it counts even if a later one does already.
        """
        if self.histories() != histories:
            raise LostError(f"Redis lost something while run {run.version} was written")
        seen = " ".join(histories.values())
        args = (seen, run.version, run.to_text(), layout.RUN_SECONDS, int(force))
        with self._nodes.errors_named():
            answer = self._nodes.call(SWITCH, [layout.RUN], args)
        if answer == "lost":
            raise LostError(f"Redis lost something while run {run.version} was written")
        if answer == "older":
            raise OlderError(f"a later run than {run.version} counts already")
        with self._nodes.errors_named():
            self._nodes.gather(FORGET, (), [(layout.REFUSED,)])

    def refuse(self, run: Run) -> None:
        """Let it be known that a run was not switched to."""
        with self._nodes.errors_named():
            self._nodes.gather(WRITE, (layout.RUN_SECONDS,), [(layout.REFUSED, run.to_text())])

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
