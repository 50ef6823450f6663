"""A Redis as follow-service's user of deploy/graph-redis.acl may use it."""

from contextlib import closing, contextmanager

from murmuration_runtime.redis_nodes import Nodes
from murmuration_testkit import REPOSITORY


@contextmanager
def as_follow_service(node):
    """Have that user in a node for as long as the context lasts, and be them."""
    _, name, *rights = (REPOSITORY / "deploy/graph-redis.acl").read_text().split()
    node.redis.acl_setuser(name, enabled=True, reset=True, passwords=["+word"])
    node.redis.execute_command("ACL", "SETUSER", name, *(each for each in rights if not each.startswith(("on", ">"))))
    with closing(Nodes(node.url, 2, 2, username=name, password="word")) as nodes:
        yield nodes
