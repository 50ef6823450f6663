"""The hottest accounts: never too few, never one that is missing."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from follow_service.dynamo_graph import dynamo_graph
from follow_service.follows import Edge
from follow_service.hot_metrics import HOT, NAMED, HotFollowees
from follow_service.hottest import WINDOW_S, Hot, Hottest, TopK

STREAMS = st.lists(st.integers(0, 30).map(str), max_size=300)


@given(STREAMS, st.integers(1, 8))
def test_counts_are_bounded_and_who_is_hot_is_there(stream, places):
    """As Space-Saving promises, whatever the order."""
    top, true = TopK(places), Counter(stream)
    for each in stream:
        top.add(each)
    found = top.most(places)
    assert len(found) == min(places, len(true))
    assert sum(each.count for each in found) == len(stream)
    for each in found:
        assert each.count - each.over <= true[each.user_id] <= each.count
        assert each.over <= len(stream) / places
    assert {user_id for user_id, count in true.items() if count > len(stream) / places} <= {
        each.user_id for each in found
    }
    assert [each.count for each in found] == sorted((each.count for each in found), reverse=True)


@given(STREAMS)
def test_with_enough_places_the_counts_are_exact(stream):
    top = TopK(31)
    for each in stream:
        top.add(each)
    assert {each.user_id: (each.count, each.over) for each in top.most(31)} == {
        k: (n, 0) for k, n in Counter(stream).items()
    }


@pytest.fixture
def now():
    return [100.0]


@pytest.fixture
def hottest(now):
    return Hottest(lambda: now[0])


def test_a_window_is_told_when_it_is_over_and_forgotten_after_the_next(now, hottest):
    hottest.add("star")
    assert hottest.most(5) == []
    now[0] += WINDOW_S
    assert hottest.most(5) == [Hot("star", 1, 0)]
    hottest.add("rival")
    now[0] += WINDOW_S
    assert hottest.most(5) == [Hot("rival", 1, 0)]
    hottest.add("star")
    now[0] += 2 * WINDOW_S
    assert hottest.most(5) == []


def test_few_are_named_and_nobody_who_is_not_hot(now, hottest):
    for n in range(NAMED + 5):
        for _ in range(HOT + n - 3):
            hottest.add(f"u{n:02}")
    now[0] += WINDOW_S
    registry = CollectorRegistry()
    registry.register(HotFollowees(hottest))
    told = generate_latest(registry).decode()
    lines = [line for line in told.splitlines() if line.startswith("follow_service_hot_followee_writes{")]
    assert lines[0].startswith('follow_service_hot_followee_writes{user_id="u14"}')
    assert len(lines) == NAMED
    assert "u02" not in told


def test_every_write_of_an_edge_counts_its_followee(aws):
    """Follows, requests, and their ends; and what is read does not."""
    counted = []
    follows = dynamo_graph(aws.client(), "", wrote=counted.append).follows
    edge = Edge("alice", "star")
    for write in (follows.add, follows.request, follows.accept):
        write(edge, 1)
    for write in (follows.remove, follows.withdraw):
        write(edge)
    follows.standing(edge)
    assert counted == ["star"] * 5
