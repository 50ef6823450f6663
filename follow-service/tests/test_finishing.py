"""What is done beside requests, whatever dies, fails, runs twice or comes late."""

from contextlib import suppress
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from follow_service.departures import Departures
from follow_service.dynamo_follows import DynamoFollows
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_openings import DynamoOpenings
from follow_service.dynamo_remains import DynamoRemains
from follow_service.finisher import Finisher
from follow_service.follows import Edge, admit
from follow_service.openings import Openings
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.looks import AGAIN_MS
from murmuration_testkit.unkind_aws import UnkindAws

from .model import CAP, DOINGS, Model, do
from .rows import blocks, follows, mutes, requests
from .unkind import UNKIND

SETTLED_MS = 60_000
UNDER_WAY_MS = 2_000  # for which a request that has read that somebody is there may go on
PEOPLE = ["alice", "bob", "carol", "dave"]
PAIRS = [*permutations(PEOPLE, 2)]
BEFORE = st.lists(st.tuples(st.sampled_from(sorted(DOINGS.keys() - {"leave"})), st.sampled_from(PAIRS)), max_size=30)
CHANGES = ["leave", "leave", "turn private", "turn public", "turn public"]
OF_THE_WORLD = st.one_of(
    st.tuples(st.just("late follow"), st.sampled_from(PAIRS)),
    st.tuples(st.just("wait"), st.integers(1, SETTLED_MS)),
    st.tuples(st.sampled_from(["turn", "restart"]), st.integers(0, 1)),
    st.tuples(st.just("fail in"), st.integers(0, 5)),
)
MEANWHILE = st.tuples(st.sampled_from([*sorted(DOINGS), *CHANGES]), st.sampled_from(PAIRS))
STEPS = st.lists(st.one_of(OF_THE_WORLD, MEANWHILE), min_size=5, max_size=40)


class World:
    """Tables, people, a clock, and two finishers, whose requests may fail."""

    def __init__(self, aws, cap=CAP):
        self.aws, self.cap = aws, cap
        self.now, self.fails_in, self.meanwhile = 1_700_000_000_000, None, lambda: None
        self.graph, self.model = dynamo_graph(aws.client(), ""), Model()
        self.left = {}  # by who was deleted: when
        self.hidden_since = set()  # blocks and mutes of accounts that were gone already: they are the blocker's own
        self.finishers = [self.finisher(), self.finisher()]

    def finisher(self):
        dynamodb = self.aws.client()
        departures = Departures(DynamoRemains(dynamodb, ""), lambda: self.now, self.pace, SETTLED_MS)
        pending, edges = DynamoOpenings(dynamodb, ""), DynamoFollows(dynamodb, "")
        openings = Openings(pending, edges, lambda: self.now, self.pace, SETTLED_MS, self.cap)
        return Finisher({"departures": departures.looks(), "openings": openings.looks()})

    def pace(self):
        """Before each row: time goes by, somebody may do something, and the store may be away."""
        self.now += 1
        self.meanwhile()
        if self.fails_in is not None:
            self.fails_in -= 1
            if self.fails_in < 0:
                self.fails_in = None
                raise StoreAwayError("no route")

    def do(self, verb, me, other):
        """Do what a person does, here and in the model."""
        self.now += 1
        if verb == "leave" and me in self.model.private:
            self.left[me] = self.now
        if verb in ("block", "mute") and other in self.left:
            self.hidden_since.add((me, other))
        with self.aws.kind():
            assert do(self.graph, verb, me, other, self.now) == self.model.do(verb, me, other, self.now), verb

    def late_follow(self, me, other):
        """Write what a request that was under way when somebody left still writes."""
        gone = [self.left[each] for each in (me, other) if each in self.left]
        if gone and self.now < max(gone) + UNDER_WAY_MS:
            self.write_follow(me, other)

    def write_follow(self, me, other):
        ends = {"follower_id": {"S": me}, "followee_id": {"S": other}}
        self.aws.put("followers", {**ends, "followed_at": {"N": str(self.now)}})

    def turn(self, number):
        """Take a turn; what it accepted, the model accepts."""
        with suppress(StoreAwayError):
            self.finishers[number].turn()
        self.accepted()

    def accepted(self):
        there = follows(self.aws)
        for pair in [*self.model.requests]:
            if pair in there and not self.model.private.get(pair[1], True):
                self.model.follows.setdefault(pair, self.model.requests.pop(pair))

    def due(self):
        """Return whoever has a mark."""
        return {row["user_id"]["S"] for row in self.aws.items("users") if {"departure", "opening"} & row.keys()}

    def finish(self):
        """Take turns until nothing is due, on tables that answer."""
        self.fails_in = None
        with self.aws.kind():
            for _ in range(60):
                self.turn(0)
                self.now += AGAIN_MS // 2
                if not self.due():
                    return
        raise AssertionError(self.due())

    def check(self):
        """Compare with the model: all of the living is there, and nothing of whoever left."""
        model, gone = self.model, self.left.keys()

        def of_the_living(pairs):
            return {pair for pair in pairs if gone.isdisjoint(pair)}

        assert follows(self.aws) == of_the_living(model.follows)
        assert requests(self.aws) - follows(self.aws) == of_the_living(model.requests.keys() - model.follows.keys())
        for found, expected in ((blocks(self.aws), model.blocks), (mutes(self.aws), model.mutes)):
            assert found - self.hidden_since == of_the_living(expected)
        assert not any(
            not model.private[whom] for _, whom in of_the_living(model.requests.keys() - model.follows.keys())
        )

    def nothing_is_left_behind(self):
        """Check that whoever is off the list has nothing any more that others could count."""
        gone = self.left.keys() - self.due()
        assert not [pair for pair in follows(self.aws) | requests(self.aws) if gone & {*pair}]


@given(BEFORE, STEPS, st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_what_was_begun_is_finished(before, steps, seed):
    """Two finishers, restarts, a store that is away or unkind, rows that come late, people who go on meanwhile."""
    world = World(UnkindAws(seed, UNKIND))
    for who in PEOPLE:
        world.do("join", who, None)
    for verb, pair in before:
        world.do(verb, *pair)
    for step, what in steps:
        if step == "wait":
            world.now += what
        elif step == "turn":
            world.turn(what)
        elif step == "restart":
            world.finishers[what] = world.finisher()
        elif step == "fail in":
            world.fails_in = what
        elif step == "late follow":
            world.late_follow(*what)
        else:
            world.do(step, *what)
        world.nothing_is_left_behind()
    world.finish()
    world.check()


@pytest.fixture
def world(aws):
    """Alice, who is private, and whom Bob, Carol and Dave ask."""
    world = World(aws, cap=3)
    for who in PEOPLE:
        world.do("join", who, who)
    world.do("turn private", "alice", None)
    for who in PEOPLE[1:]:
        world.do("follow", who, "alice")
    return world


@pytest.mark.parametrize("verb", ["follow", "block", "mute"])
@pytest.mark.parametrize("asked_first", [False, True])
def test_all_that_is_left_of_a_deleted_account_goes(world, verb, asked_first):
    """Whichever way round, also requests; what others have among themselves stays."""
    if asked_first:
        world.do("turn private", "bob", None)
        world.do("turn private", "carol", None)
    for pair in PAIRS:
        world.do(verb, *pair)
    world.do("leave", "bob", None)
    world.finish()
    world.check()
    left = follows(world.aws) | requests(world.aws) | blocks(world.aws) | mutes(world.aws)
    assert not [pair for pair in left if "bob" in pair]
    assert ("carol", "dave") in left


def test_what_comes_late_goes_too(world):
    """A follow that had read that the account is there; a look that finds nothing before that is not the last."""
    world.do("leave", "dave", None)
    for _ in range(2):
        while world.finishers[0].turn():
            pass
        world.now += AGAIN_MS
    world.write_follow("carol", "dave")
    world.finish()
    world.check()


def test_who_follows_as_many_as_anybody_may_goes_on_asking(world, count):
    """The others follow; the account is done with all the same, and lets them in when they ask again."""
    count("bob", following=3)
    world.do("turn public", "alice", None)
    world.finish()
    assert follows(world.aws) == {("carol", "alice"), ("dave", "alice")}
    assert requests(world.aws) == {("bob", "alice")}


def test_an_account_that_turns_private_again_keeps_what_is_pending(world):
    """From the next request on."""

    def close():
        if follows(world.aws):
            world.meanwhile = lambda: None
            world.accepted()
            world.do("turn private", "alice", None)

    world.do("turn public", "alice", None)
    world.meanwhile = close
    world.finish()
    assert (len(follows(world.aws)), len(requests(world.aws))) == (1, 2)


def test_an_account_that_opens_again_is_looked_at_again(world):
    """A look that began before does not take it off the list: what was asked meanwhile would be left."""
    pending = DynamoOpenings(world.aws.client(), "")
    world.do("turn public", "alice", None)
    (first,) = pending.due()
    world.do("turn private", "alice", None)
    assert pending.due() == []
    world.do("turn public", "alice", None)
    pending.opened(first)
    (second,) = pending.due()
    assert second.opened_at > first.opened_at
    pending.opened(second)
    assert pending.due() == []


def test_the_request_of_somebody_who_left_is_dropped(world):
    """Whichever of the two works comes first."""
    world.do("turn public", "alice", None)
    world.do("leave", "carol", None)
    store = DynamoFollows(world.aws.client(), "")
    assert admit(store, Edge("carol", "alice"), world.now, CAP)
    assert (follows(world.aws), "carol" in dict(requests(world.aws))) == (set(), False)


def test_a_request_that_was_taken_back_is_not_accepted(world):
    """Nor that of somebody who left: it goes."""
    world.do("turn public", "alice", None)
    world.do("unfollow", "bob", "alice")
    world.do("leave", "carol", None)
    world.finish()
    assert (follows(world.aws), requests(world.aws)) == ({("dave", "alice")}, set())


def test_a_turn_takes_those_who_left_first(aws, graph):
    """As many as it may, so a wave of departures is not read whole each time."""
    remains = DynamoRemains(aws.client(), "", most_due=2)
    for at, who in enumerate(PEOPLE, 2):
        graph.profiles.save(who, who, None, None, 1)
        graph.profiles.delete(who, at)
    assert [due.user_id for due in remains.due()] == ["alice", "bob"]
    remains.departed(remains.due()[0])
    assert [due.user_id for due in remains.due()] == ["bob", "carol"]


class Asked:
    """A client that notes what is queried."""

    def __init__(self, client):
        self._client, self.queries, self.exceptions = client, [], client.exceptions

    def query(self, **asked):
        self.queries.append(asked)
        return self._client.query(**asked)


def test_whether_the_tables_answer_is_asked_for_one_row(aws):
    """Every five seconds, however many are due."""
    dynamodb = Asked(aws.client())
    DynamoRemains(dynamodb, "").check()
    assert [asked["Limit"] for asked in dynamodb.queries] == [1]


ROWS = 1_000


def test_what_it_costs(aws, call, join):
    """README.md says what that is for ten million edges, and for a hundred thousand requests."""
    join("star", is_private=True)
    for n in range(ROWS):
        ends = {"followee_id": {"S": "star"}, "follower_id": {"S": f"fan{n}"}}
        aws.put("follow_requests", {**ends, "requested_at": {"N": "1"}})
        aws.put("users", {"user_id": {"S": f"fan{n}"}, "created_at": {"N": "1"}})
    world = World(aws)
    call("star", "PUT /users/me", display_name="Star", is_private=False)
    aws.calls.clear()
    world.turn(0)
    while world.finishers[0].turn():
        pass
    assert len(follows(aws)) == ROWS
    assert aws.calls.total() <= 3.05 * ROWS + 60  # a read, a transaction and a deletion each
    call("star", "DELETE /users/me")
    aws.calls.clear()
    while world.finishers[0].turn():
        pass
    assert follows(aws) == set()
    assert aws.calls.total() <= 1.05 * ROWS + 60  # a deletion each
