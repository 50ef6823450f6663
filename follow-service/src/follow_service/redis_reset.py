"""Whatever is kept, forgotten: events are lost that would have put it right, and the tables know it all.

Rule: what is forgotten while it is filled is not kept, since its mark goes, too. Who is noted stays: notes only make
somebody look at the tables.
"""

from collections.abc import Callable
from itertools import islice

from follow_service.cache import Kind, list_key, profile_key
from follow_service.kept_pages import pages_key
from follow_service.redis_pages import DROP
from murmuration_runtime.redis_nodes import Nodes

AT_ONCE = 1_000
FORGOTTEN = tuple(key.partition("{")[0] for key in (profile_key(""), pages_key(""), *(list_key(k, "") for k in Kind)))


def forget_all(nodes: Nodes, heartbeat: Callable[[], object]) -> None:
    """Forget it. heartbeat: called again and again meanwhile."""
    with nodes.errors_named():
        keys = (key for key in nodes.client.scan_iter(count=AT_ONCE) if key.startswith(FORGOTTEN))
        while some := list(islice(keys, AT_ONCE)):
            nodes.gather(DROP, (), [(key,) for key in some])
            heartbeat()
