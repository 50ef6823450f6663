"""Calls at the same moment: whatever their order within, they end as if one had come after the other."""

import os
import uuid
from contextlib import suppress
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.profiles import DeletedAccountError
from follow_service import follows, profiles
from follow_service.dynamo_follows import DynamoFollows
from follow_service.follows import Edge
from murmuration_runtime.dynamo import client

from .memory import MemoryStore
from .stepwise import Call, interleave

CAP = 5
REFUSALS = (
    follows.UnknownRequestError,
    profiles.UnknownUserError,
    DeletedAccountError,
)
CALLS = {
    "follow": lambda store, edge: follows.follow(store, edge, 2, CAP),
    "unfollow": follows.unfollow,
    "accept": lambda store, edge: follows.accept(store, edge, 3, CAP),
    "decline": follows.decline,
    "turn private": lambda store, edge: profiles.save(store, edge.followee_id, "Bob", True, 4),
    "turn public": lambda store, edge: profiles.save(store, edge.followee_id, "Bob", False, 4),
    "delete follower": lambda store, edge: store.delete_account(edge.follower_id, 5),
    "delete followee": lambda store, edge: store.delete_account(edge.followee_id, 5),
}
BEGINNINGS = st.tuples(st.booleans(), st.sampled_from(["nothing", "edge", "request", "both"]))
ORDERS = st.lists(st.integers(0, 2), max_size=16)


def begin(store, private, between):
    """Let two people who are new stand to each other like this."""
    edge = Edge(f"alice-{uuid.uuid4().hex}", f"bob-{uuid.uuid4().hex}")
    for user_id in (edge.follower_id, edge.followee_id):
        store.save_profile(user_id, "Somebody", private, 1)
    if between in ("edge", "both"):
        store.add(edge, 1)
    if between in ("request", "both"):
        store.request(edge, 1)
    return edge


def end(store, edge, names, order):
    """Run the calls in this order of steps, and tell how the two stand then.

    A request beside an edge is a leftover without effect: accept and decline take it away, and the edge stays.
    """
    interleave([Call(store, lambda s, name=name: CALLS[name](s, edge), REFUSALS) for name in names], order)
    standing = store.standing(edge)
    return standing.followed, standing.requested and not standing.followed


def one_by_one(store, private, between, names):
    """Tell every end that the calls can have when each waits for the one before."""
    return {end(store, begin(store, private, between), each, ()) for each in permutations(names)}


def check(store, beginning, names, order):
    """Compare."""
    assert end(store, begin(store, *beginning), names, order) in one_by_one(store, *beginning, names)


@given(BEGINNINGS, st.lists(st.sampled_from(sorted(CALLS)), min_size=2, max_size=3), ORDERS)
@settings(max_examples=1_000, deadline=None)
def test_calls_at_once_end_like_calls_one_by_one(beginning, names, order):
    """Three at most, of one pair, stopped before every question to the store."""
    check(MemoryStore(), beginning, names, order)


@given(st.lists(st.sampled_from(sorted(CALLS.keys() - {"accept", "turn public"})), max_size=20))
def test_nobody_new_follows_a_private_account_that_accepts_nobody(history):
    """Whatever else happens, for as long as it stays private."""
    store = MemoryStore()
    edge = begin(store, True, "nothing")
    for name in history:
        with suppress(*REFUSALS):
            CALLS[name](store, edge)
    assert not store.edges


@pytest.mark.stack
@given(BEGINNINGS, st.lists(st.sampled_from(sorted(CALLS)), min_size=2, max_size=2), ORDERS)
@settings(max_examples=40, deadline=None)
def test_calls_at_once_end_like_calls_one_by_one_on_real_tables(beginning, names, order):
    """The store's single requests are as indivisible there as in memory."""
    check(DynamoFollows(client(), os.environ.get("TABLE_PREFIX", "")), beginning, names, order)
