"""Calls at the same moment, some of which die: they end as if one had come after the other, as the model says."""

import os
import uuid
from itertools import count, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from follow_service import lists
from follow_service.dynamo_facts import Reader
from follow_service.dynamo_graph import dynamo_graph
from follow_service.lists import Listed
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.unkind_aws import UnkindAws

from .model import ASKED, DOINGS, DONE, Model, do
from .stepwise import Call

VERBS = sorted(DOINGS.keys() - {"join", "mute", "unmute"})  # those of one row meet nothing
CALLS = [*product(VERBS, (True, False))]  # by whom of the two
BEGINNINGS = {
    "strangers": [],
    "one follows": [("follow", True)],
    "friends": [("follow", True), ("follow", False)],
    "asked": [("turn private", False), ("follow", True)],
    "asked, and public since": [("turn private", False), ("follow", True), ("turn public", False)],
    "accepted": [("turn private", False), ("follow", True), ("accept", False)],
    "blocked": [("block", False)],
}
STEPS = st.lists(st.integers(0, 2), min_size=12, max_size=12)  # which of the calls asks its next question
DEATH = st.none() | st.integers(0, 11)  # at which step one dies


class Pair:
    """Two people in tables, and what the model says of them."""

    def __init__(self, dynamodb, prefix):
        self.dynamodb, self.prefix = dynamodb, prefix
        self.people = [f"{name}-{uuid.uuid4().hex}" for name in ("alice", "bob")]
        self.moments = count(1_700_000_000_000)
        self.model = Model()
        for first in (True, False):
            self.do("join", first)

    def named(self, verb, by_first):
        """Return a call as the model takes it: the verb, who, whom and when."""
        who, whom = self.people if by_first else self.people[::-1]
        return verb, who, whom, next(self.moments)

    def do(self, verb, by_first):
        """Do one call to its end, here and in the model: the answer and the state are the model's."""
        asked = self.named(verb, by_first)
        assert self.answer(asked) == self.model.do(*asked)
        assert self.state() == self.model.state()

    def answer(self, asked):
        """Do a call to its end."""
        return do(dynamo_graph(self.dynamodb, self.prefix), *asked)

    def start(self, asked):
        """Begin a call, which stops before each question that it asks."""
        return Call(self.dynamodb, lambda stops: do(dynamo_graph(stops, self.prefix), *asked))

    def at_once(self, calls, steps, death):
        """Do calls at once, question by question in this order; return each with its answer, None if it died."""
        asked = [self.named(*call) for call in calls]
        running = [self.start(each) for each in asked]
        step = 0
        while waiting := [call for call in running if not call.done]:
            chosen = steps[step] if step < len(steps) else 0
            waiting[chosen % len(waiting)].step(kill=step == death)
            step += 1
        return [(each, call.answer) for each, call in zip(asked, running, strict=True)]

    def state(self):
        """Return what the tables have of these two, in the model's form."""
        both = [tuple(self.people), tuple(self.people[::-1])]
        found = Reader(self.dynamodb, self.prefix).read(
            users=self.people, follows=both, requests=both, blocks=both, mutes=both
        )
        deleted = {user for user, row in found.users.items() if "deleted_at" in row}
        private = {user: row["is_private"]["BOOL"] for user, row in found.users.items() if user not in deleted}
        sets = found.follows, found.requests - found.follows, found.blocks, found.mutes, deleted
        return *map(frozenset, sets), frozenset(private.items())


def ends(model, calls, *, with_answers):
    """Return each state that these calls can end in, one after the other; who died may have done it, or not."""
    found = set()
    for order in permutations(calls):
        models = [model.copy()]
        for asked, answer in order:
            not_done = [each.copy() for each in models] if answer is None else []
            answers = [(each, each.do(*asked)) for each in models]
            ok = [each for each, said in answers if answer is None or not with_answers or said == answer]
            models = [*ok, *not_done]
        found |= {each.state() for each in models}
    return found


def check(pair, done):
    """Compare; then repeat those that died, and compare again."""
    assert pair.state() in ends(pair.model, done, with_answers=len(done) == 2)
    follows, requests, blocks, *_ = pair.state()
    assert (blocks | {each[::-1] for each in blocks}).isdisjoint(follows | requests)
    again = [(asked, pair.answer(asked)) for asked, answer in done if answer is None]
    finished = [(asked, answer) for asked, answer in done if answer is not None]
    assert pair.state() in ends(pair.model, [*finished, *again], with_answers=False)


def begun(dynamodb, prefix, beginning):
    pair = Pair(dynamodb, prefix)
    for call in beginning:
        pair.do(*call)
    return pair


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_call_between_any_two_questions_of_another(beginning):
    """Whichever two calls: they end and answer like one after the other."""
    dynamodb = UnkindAws().client()
    for (verb, by_first), other in product(CALLS, CALLS):
        for questions in count():
            pair = begun(dynamodb, "", BEGINNINGS[beginning])
            asked = pair.named(verb, by_first)
            outer = pair.start(asked)
            for _ in range(questions):
                outer.step()
            inner = pair.named(*other)
            answer = pair.answer(inner)
            was_done = outer.done
            outer.finish()
            check(pair, [(asked, outer.answer), (inner, answer)])
            if was_done:
                break


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_call_that_dies_between_any_two_questions(beginning):
    """It was done or it was not, and a repeat finishes it."""
    dynamodb = UnkindAws().client()
    for verb, by_first in CALLS:
        for questions in count():
            pair = begun(dynamodb, "", BEGINNINGS[beginning])
            asked = pair.named(verb, by_first)
            call = pair.start(asked)
            for _ in range(questions):
                call.step()
            if call.done:
                break
            call.step(kill=True)
            check(pair, [(asked, None)])


def follow_twice(dynamodb, prefix, *, asked_first, ended_by):
    """Have one person follow another by two calls, of which one has read "public" and one "private"; then end it."""
    pair = Pair(dynamodb, prefix)
    by_public = pair.start(pair.named("follow", True))
    by_public.step()
    pair.do("turn private", False)
    by_private = pair.start(pair.named("follow", True))
    by_private.step()
    for call in (by_private, by_public) if asked_first else (by_public, by_private):
        call.finish()
    assert (by_public.answer, by_private.answer) == (DONE, ASKED)
    graph, (me, other) = dynamo_graph(dynamodb, prefix), pair.people
    for listed, who in ((Listed.FOLLOWERS, other), (Listed.SENT, me), (Listed.REQUESTS, other)):
        page, _ = lists.page(graph.lists, graph.people, listed, who, who, 50, None)
        assert [row.user_id for row in page.rows] == ([me] if listed is Listed.FOLLOWERS else [])
    pair.answer(pair.named(*ended_by))
    standing = graph.people.seen_with_ties(me, [other])[other].ties
    assert (standing.following, standing.requested) == (False, False)


ASKED_FIRST = pytest.mark.parametrize("asked_first", [False, True])
ENDED_BY = pytest.mark.parametrize("ended_by", [("remove", False), ("unfollow", True)])


@ASKED_FIRST
@ENDED_BY
def test_a_request_that_came_beside_a_follow_counts_as_absent_and_goes_with_it(asked_first, ended_by):
    follow_twice(UnkindAws().client(), "", asked_first=asked_first, ended_by=ended_by)


@pytest.mark.stack(shared=False)
@ASKED_FIRST
@ENDED_BY
def test_so_it_does_on_real_tables(real_tables, asked_first, ended_by):
    prefix = os.environ.get("TABLE_PREFIX", "")
    follow_twice(real_tables, prefix, asked_first=asked_first, ended_by=ended_by)


@given(st.sampled_from(sorted(BEGINNINGS)), st.lists(st.sampled_from(CALLS), min_size=2, max_size=3), STEPS, DEATH)
@settings(max_examples=500, deadline=None)
def test_calls_that_take_turns(beginning, calls, steps, death):
    """Three, of which one may die, end like one after the other; their answers may only tell what each has seen."""
    pair = begun(UnkindAws().client(), "", BEGINNINGS[beginning])
    check(pair, pair.at_once(calls, steps, death))


@pytest.fixture(scope="module")
def real_tables():
    """Tables without a finisher: the stack's accepts what is pending of whoever went public, at a moment of its own."""
    with dynamodb_local(in_memory=True) as store:
        yield store.client()


@pytest.mark.stack(shared=False)
@given(st.sampled_from(sorted(BEGINNINGS)), st.lists(st.sampled_from(CALLS), min_size=2, max_size=2), STEPS, DEATH)
@settings(max_examples=40, deadline=None)
def test_calls_that_take_turns_on_real_tables(real_tables, beginning, calls, steps, death):
    """DynamoDB's single requests are as indivisible there as in memory."""
    pair = begun(real_tables, os.environ.get("TABLE_PREFIX", ""), BEGINNINGS[beginning])
    check(pair, pair.at_once(calls, steps, death))
