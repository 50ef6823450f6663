"""The application on DynamoDB in memory, and an issuer of tokens that lives as long as the test run."""

from types import SimpleNamespace
from uuid import uuid4

import pytest

from follow_service.app import create_app
from follow_service.dynamo_graph import dynamo_graph
from follow_service.settings import Settings
from murmuration_testkit.redis_nodes import redis_cluster, redis_node
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.unkind_aws import UnkindAws

ISSUER = Issuer()
bearer = ISSUER.bearer
SETTINGS = Settings(**ISSUER.edge_settings, following_cap=3)


@pytest.fixture(scope="module")
def single():
    with redis_node() as node:
        yield node


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster() as nodes:
        yield nodes


@pytest.fixture
def ana():
    return f"ana-{uuid4().hex[:8]}"


@pytest.fixture
def aws():
    """Kind, unless a test switches that off."""
    return UnkindAws()


@pytest.fixture
def graph(aws):
    return dynamo_graph(aws.client(), "")


@pytest.fixture
def count(aws):
    """Count in the aggregator's place."""

    def add(user_id, *, followers=0, following=0):
        aws.client().update_item(
            TableName="users",
            Key={"user_id": {"S": user_id}},
            UpdateExpression="ADD followers_count :followers, following_count :following",
            ExpressionAttributeValues={":followers": {"N": str(followers)}, ":following": {"N": str(following)}},
        )

    return add


@pytest.fixture
def clock():
    """A clock that only the test moves."""
    return SimpleNamespace(now=1_700_000_000_000)


@pytest.fixture
def http(graph, clock):
    return create_app(SETTINGS, graph=graph, keys=ISSUER, now=lambda: clock.now).test_client()


@pytest.fixture
def call(http, clock):
    """Ask as somebody, `call("alice", "POST /users/bob/follow")`; a millisecond passes with each call."""

    def ask(who, what, **body):
        clock.now += 1
        method, path = what.split(" ")
        return http.open(f"/v1{path}", method=method, headers=bearer(who), **({"json": body} if body else {}))

    return ask


@pytest.fixture
def join(call):
    """Have some people make their profiles."""

    def put(*people, **more):
        for who in people:
            assert call(who, "PUT /users/me", display_name=who.title(), **more).status_code == 201

    return put
