"""Whatever people do, one after the other, each answer and each reading is the model's; DynamoDB kind or not."""

import os
import uuid
from itertools import count, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from follow_service import api, lists, mutuals, people
from follow_service.dynamo_graph import dynamo_graph
from follow_service.lists import Listed
from follow_service.mutual_searches import Pair
from murmuration_runtime.dynamo import client
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.processes import all_ready, pause, resume
from murmuration_testkit.unkind_aws import UnkindAws

from .model import DOINGS, Model, do
from .unkind import UNKIND

NAMES = ("alice", "bob", "carol", "dave")
HISTORY = st.lists(
    st.tuples(st.sampled_from(sorted(DOINGS)), st.sampled_from([*permutations(range(4), 2)])), max_size=40
)


class World:
    """Four people in tables, and in the model."""

    def __init__(self, graph):
        self.graph, self.model = graph, Model()
        self.people = [f"{name}-{uuid.uuid4().hex}" for name in NAMES]
        self.moments = count(1_700_000_000_000)
        for who in self.people[:3]:
            self.do("join", who, who)

    def live(self, history):
        """Do one thing after the other; each answer is the model's, however often it had to be asked for."""
        for verb, (me, other) in history:
            self.do(verb, self.people[me], self.people[other])

    def do(self, verb, me, other):
        now = next(self.moments)
        answer = insist(lambda: do(self.graph, verb, me, other, now))
        assert answer == self.model.do(verb, me, other, now), verb

    def check(self):
        """Compare all that anybody can read."""
        for viewer in self.people:
            assert insist(lambda viewer=viewer: people.relationships(self.graph.people, viewer, self.people)) == {
                other: self.ties(viewer, other) for other in self.people
            }
            for user in self.people:
                self.check_lists(viewer, user)

    def ties(self, viewer, other):
        """Return what the viewer is told."""
        model, there, back = self.model, (viewer, other), (other, viewer)
        if model.hidden(viewer, other):
            return people.NO_TIES
        return people.Ties(
            following=there in model.follows,
            followed_by=back in model.follows,
            requested=there in model.requests.keys() - model.follows.keys(),
            requested_by=back in model.requests.keys() - model.follows.keys(),
            blocking=there in model.blocks,
            muting=there in model.mutes,
            mutual={there, back} <= model.follows.keys(),
        )

    def check_lists(self, viewer, user):
        """Compare the lists of a user that the viewer may read; and that they may."""
        model = self.model
        of = {
            Listed.FOLLOWERS: (model.follows, 1, False),
            Listed.FOLLOWING: (model.follows, 0, False),
            Listed.REQUESTS: (model.requests, 1, False),
            Listed.SENT: (model.requests, 0, False),
            Listed.BLOCKS: (model.blocks, 0, True),
            Listed.MUTES: (model.mutes, 0, True),
        }
        is_open = self.opened(viewer, user)
        for listed, (pairs, side, blocked) in of.items():
            if is_open if listed in (Listed.FOLLOWERS, Listed.FOLLOWING) else viewer == user:
                others = {pair[1 - side]: at for pair, at in pairs.items() if pair[side] == user}
                assert self.whole(listed, user, viewer) == model.listed(others, viewer, blocked=blocked)
        for other in self.people:
            if is_open and self.opened(viewer, other):
                both = {
                    each: at
                    for (who, each), at in model.follows.items()
                    if who == user and (each, other) in model.follows
                }
                assert self.mutuals(user, other, viewer) == model.listed(both, viewer)

    def opened(self, viewer, user):
        """Say whether the viewer may read a user's lists; the service says the same."""
        model = self.model
        expected = None
        if model.hidden(viewer, user):
            expected = "no-user"
        elif (viewer, user) in model.blocks:
            expected = "blocking"
        elif model.private[user] and viewer != user and (viewer, user) not in model.follows:
            expected = "private-account"
        said = None
        try:
            insist(lambda: people.check_open(self.graph.people, viewer, user))
        except tuple(api.PROBLEMS) as refusal:
            said = api.PROBLEMS[type(refusal)].code
        assert said == expected
        return expected is None

    def whole(self, listed, user, viewer):
        """Page through a list."""
        return paged(lambda cursor: lists.page(self.graph.lists, self.graph.people, listed, user, viewer, 1, cursor))

    def mutuals(self, user, other, viewer):
        """Page through mutual followers."""
        parts = self.graph.lists, self.graph.searches, self.graph.people, Pair(user, other), viewer, 1
        return paged(lambda cursor: mutuals.page(*parts, cursor, 0)[:2])


def paged(read):
    found, cursor = [], None
    while True:
        page, cursor = insist(lambda cursor=cursor: read(cursor))
        found += [row.user_id for row in page.rows]
        if cursor is None:
            return found


def insist(ask):
    """Ask until there is an answer, as a client does."""
    while True:
        try:
            return ask()
        except StoreAwayError:
            pass


@given(HISTORY)
@settings(max_examples=150, deadline=None)
def test_any_history(history):
    """On a DynamoDB that is kind."""
    world = World(dynamo_graph(UnkindAws().client(), ""))
    world.live(history)
    world.check()


@given(HISTORY, st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_any_history_while_answers_are_lost(history, seed):
    """A write whose answer is lost is done again, and answers the same; reads come in pieces."""
    world = World(dynamo_graph(UnkindAws(seed, UNKIND).client(), ""))
    world.live(history)
    world.check()


@pytest.fixture(scope="module")
def nobody_finishes():
    """Have the stack's finisher pause: it deletes the blocks of who left as soon as it looks."""
    assert pause("follow-finisher")
    yield
    resume("follow-finisher")
    all_ready()


@pytest.mark.stack
@pytest.mark.usefixtures("nobody_finishes")
@given(HISTORY)
@settings(max_examples=10, deadline=None)
def test_any_history_on_real_tables(history):
    """The fake is as DynamoDB is."""
    world = World(dynamo_graph(client(), os.environ.get("TABLE_PREFIX", "")))
    world.live(history)
    world.check()


FANS = 12
MOVES = st.lists(
    st.tuples(st.sampled_from(["follow", "unfollow", "leave", "block", "unblock"]), st.integers(0, FANS - 1)),
    max_size=4,
)


def page_while_it_moves(graph, limit, same_moment, moves):
    """Page through a list; between any two pages some follow, leave, or block who reads."""
    star, reader, *fans = (f"p-{uuid.uuid4().hex}" for _ in range(FANS + 2))
    at = count(1_700_000_000_000, 0 if same_moment else 1)
    for each in (star, reader, *fans):
        do(graph, "join", each, each, next(at))
    for fan in fans[: FANS // 2 + 3]:
        do(graph, "follow", fan, star, next(at))
    there = set(fans[: FANS // 2 + 3])
    shown, cursor, moved = [], None, set()
    for some in [*moves, *[[]] * (2 * FANS)]:
        page, cursor = lists.page(graph.lists, graph.people, Listed.FOLLOWERS, star, reader, limit, cursor)
        assert len(page.rows) == limit or cursor is None
        shown += [row.user_id for row in page.rows]
        if cursor is None:
            break
        for verb, n in some:
            moved.add(fans[n])
            do(graph, verb, fans[n], reader if "block" in verb else star, next(at))
    assert cursor is None
    assert len(shown) == len({*shown})
    assert there - moved <= {*shown} <= there | moved


@given(st.integers(1, 4), st.booleans(), st.lists(MOVES, max_size=4))
@settings(max_examples=150, deadline=None)
def test_a_moving_list_loses_nobody(limit, same_moment, moves):
    """Who is in it all the while is shown once, and nobody twice; pages are full, or the last."""
    page_while_it_moves(dynamo_graph(UnkindAws().client(), ""), limit, same_moment, moves)


@pytest.mark.stack
@given(st.integers(1, 4), st.booleans(), st.lists(MOVES, max_size=4))
@settings(max_examples=15, deadline=None)
def test_a_moving_list_loses_nobody_on_real_tables(limit, same_moment, moves):
    """Real indexes have an order of their own among rows of one moment."""
    page_while_it_moves(dynamo_graph(client(), os.environ.get("TABLE_PREFIX", "")), limit, same_moment, moves)
