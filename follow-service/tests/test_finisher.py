"""python -m follow_service finish, as it is run."""

import os
import subprocess
import sys
import time

import pytest

from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_openings import DynamoOpenings
from follow_service.dynamo_remains import DynamoRemains
from follow_service.follows import Edge
from follow_service.lists import Listed
from murmuration_runtime.dynamo import client

PREFIX = os.environ.get("TABLE_PREFIX", "")
AWS = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
AWAY = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9", **AWS}


def finish(**environment):
    """Run it once, and return its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "follow_service", "finish", "--once"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.mark.stack
def test_what_was_begun_is_finished_on_real_tables(somebody):
    """All that is left of one goes, both ways; all that another had pending is accepted; then neither is due."""
    graph = dynamo_graph(client(), PREFIX)
    gone, opened, *others = (somebody() for _ in range(122))
    then = time.time_ns() // 1_000_000 - 60_000
    for each in (gone, opened, *others):
        graph.profiles.save(each, "Somebody", each == opened or None, None, then)
    for n, other in enumerate(others):
        graph.follows.add(Edge(other, gone), then)
        graph.follows.request(Edge(other, opened), then)
        if n < 5:
            graph.follows.add(Edge(gone, other), then)
            graph.follows.request(Edge(gone, other), then)
            graph.blocks.mute(gone, other, then)
            graph.blocks.mute(other, gone, then)
    for blocked in ((gone, somebody()), (somebody(), gone)):
        graph.blocks.block(*blocked, then)
    graph.profiles.delete(gone, then)
    graph.profiles.save(opened, "Somebody", False, None, then)
    for _ in range(2):  # who finds something is not the last
        code, said = finish(FINISHING_RATE="5000", FINISHING_SETTLED_SECONDS="1")
        assert code == 0, said
    assert graph.lists.among([Edge(other, opened) for other in others]) == {Edge(other, opened) for other in others}
    assert not graph.lists.among([Edge(other, gone) for other in others] + [Edge(gone, other) for other in others])
    assert not any(graph.lists.rows(listed, gone, 100, None)[0] for listed in Listed)
    assert gone not in {due.user_id for due in DynamoRemains(client(), PREFIX).due()}
    assert opened not in {due.user_id for due in DynamoOpenings(client(), PREFIX).due()}


def test_a_store_that_is_away_is_named_and_nothing_is_lost():
    """Exit 1, and what to do."""
    code, said = finish(**AWAY)
    assert code == 1
    assert "127.0.0.1:9" in said
    assert "run it again" in said


@pytest.mark.parametrize("rate", ["0", "-1", "fast"])
def test_an_odd_rate_stops_the_start(rate):
    """And is named."""
    code, said = finish(FINISHING_RATE=rate)
    assert code == 1
    assert f"FINISHING_RATE is '{rate}': input should be" in said
