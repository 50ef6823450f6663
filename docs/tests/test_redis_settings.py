"""The settings that operations.md names are those of the Redis in use, which takes each of them while it runs."""

import re
from pathlib import Path

import pytest

from murmuration_testkit.redis_nodes import redis_cluster

REPOSITORY = Path(__file__).parents[2]
SECTION = (REPOSITORY / "docs/operations.md").read_text("utf-8").partition("\n## Settings of Redis\n")[2]
ROWS = re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \| `([^`]+)` \|", SECTION.partition("\n## ")[0], re.MULTILINE)
LOCAL = dict(re.findall(r"^([a-z-]+) (.+)$", (REPOSITORY / "deploy/local/redis.conf").read_text("utf-8"), re.MULTILINE))
BY_THE_TEST = {"cluster-node-timeout"}  # the cluster of a test is less patient than Redis itself


@pytest.fixture(scope="module")
def node():
    with redis_cluster() as cluster:
        yield cluster.nodes[0].redis


def has(redis, setting):
    """Return what Redis has; of the limits of buffers the part about replicas, which it calls by its old word."""
    value = redis.config_get(setting)[setting]
    return re.sub(r".*slave (\d+ \d+ \d+).*", r"replica \1", value)


def test_there_are_such_settings():
    """The table is found."""
    assert {"repl-backlog-ttl", "cluster-node-timeout", "maxmemory-policy"} <= {name for name, _, _ in ROWS}


@pytest.mark.parametrize(("setting", "value"), [row[:2] for row in ROWS])
def test_the_local_stack_has_no_other_value(setting, value):
    """Where its file says anything."""
    assert LOCAL.get(setting, value) == value


@pytest.mark.stack(shared=False)
@pytest.mark.parametrize(("setting", "value", "default"), ROWS)
def test_redis_has_this_default_and_takes_the_value_while_it_runs(node, setting, value, default):
    """No restart is needed, which would make every timeline cold."""
    if setting not in {*LOCAL, *BY_THE_TEST}:
        assert has(node, setting) == default
    was = node.config_get(setting)[setting]
    try:
        assert node.config_set(setting, value)
        assert has(node, setting) == value
    finally:
        node.config_set(setting, was)
