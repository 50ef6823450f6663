"""Each kind of Redis that keeps something, and one as follow-service's user of deploy/graph-redis.acl may use it."""

from contextlib import closing, contextmanager

import pytest

from murmuration_runtime.redis_nodes import Nodes
from murmuration_testkit import REPOSITORY

KINDS = ["memory", *(pytest.param(kind, marks=pytest.mark.stack(shared=False)) for kind in ("single", "cluster"))]


@contextmanager
def kept_in(request, in_memory, in_redis):
    """Give what is kept in the kind that a fixture is asked for."""
    if request.param == "memory":
        yield in_memory()
        return
    with closing(Nodes(request.getfixturevalue(request.param).url, 2, 2)) as nodes:
        yield in_redis(nodes)


@contextmanager
def as_follow_service(node):
    """Have that user in a node for as long as the context lasts, and be them."""
    _, name, *rights = (REPOSITORY / "deploy/graph-redis.acl").read_text().split()
    node.redis.acl_setuser(name, enabled=True, reset=True, passwords=["+word"])
    node.redis.execute_command("ACL", "SETUSER", name, *(each for each in rights if not each.startswith(("on", ">"))))
    with closing(Nodes(node.url, 2, 2, username=name, password="word")) as nodes:
        yield nodes
