"""What can happen to a cluster of Redis: one master or all nodes are killed, or hang; masters evict."""

import random
from collections.abc import Callable, Iterable
from functools import partial

from murmuration_testkit.redis_nodes import Cluster, Node

STAYS = 0.6  # of what a master has, when it evicts


def redis_faults(cluster: Cluster, sleep: Callable[[], None]) -> list[tuple[str, Callable[[], object]]]:
    """Return each kind, with its name. sleep: for how long something hangs."""

    def hang(nodes: Iterable[Node]) -> None:
        for node in nodes:
            node.pause()
        sleep()
        for node in nodes:
            node.resume()
        cluster.settle()

    def one(fault: Callable[[Iterable[Node]], None]) -> None:
        fault([random.choice(cluster.masters())])

    def kill(nodes: Iterable[Node]) -> None:
        for node in nodes:
            node.kill()
        for node in nodes:
            node.start()
        cluster.settle()

    return [
        ("SIGKILL one master of Redis", partial(one, kill)),
        ("SIGKILL all of Redis", partial(kill, cluster.nodes)),
        ("SIGSTOP of one master of Redis", partial(one, hang)),
        ("SIGSTOP of all of Redis", partial(hang, cluster.nodes)),
        ("evictions", partial(_evict, cluster)),
    ]


def _evict(cluster: Cluster) -> None:
    """Have each master make room, as when it is full: what was not read for the longest time goes."""
    for node in cluster.masters():
        before = node.redis.config_get("maxmemory")["maxmemory"]
        empty, used = (int(node.redis.info("memory")[each]) for each in ("used_memory_startup", "used_memory"))
        node.redis.config_set("maxmemory", empty + int((used - empty) * STAYS))
        node.redis.config_set("maxmemory", before)
