"""The drill's judge: it lets pass what can have happened, and nothing else."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from .model import DOINGS, Model

SPEC = spec_from_file_location("drills_explained", Path(__file__).parents[1] / "drills/explained.py")
explained = sys.modules[SPEC.name] = module_from_spec(SPEC)
SPEC.loader.exec_module(explained)

PAIR = ("alice", "bob")
OWN = {"join", "turn private", "turn public"}
VERBS = sorted(DOINGS.keys() - {"leave"})
MOMENTS = st.lists(
    st.tuples(st.sampled_from(VERBS), st.booleans(), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=8
)


def beginning():
    model = Model()
    for person in PAIR:
        model.do("join", person, person, 0)
    return model


def act(who, verb, began, sent, ended, answer, unanswered=None):
    whom = who if verb in OWN else PAIR[who == "alice"]
    return explained.Act(who, verb, whom, began, sent, ended, answer, unanswered)


def lived(moments):
    """Have things happen one after the other, each somewhere within its time; return the acts and the end."""
    model, acts, free_at = beginning(), [], dict.fromkeys(PAIR, 0.0)
    for now, (verb, by_first, before, behind, was_lost) in enumerate(moments):
        who = PAIR[by_first]
        whom = who if verb in OWN else PAIR[not by_first]
        at = 10.0 * now + 10
        sent = max(free_at[who], at - 10 * before)
        if was_lost:
            model.do(verb, who, whom, 0)
        answer = model.do(verb, who, whom, 0)
        ended = at + 10 * behind
        later = [each for each, (_, by, *_) in enumerate(moments) if each > now and by == by_first]
        if later:
            ended = min(ended, 10.0 * later[0] + 10 - 0.5)
        free_at[who] = ended
        acts.append(act(who, verb, sent, sent, ended, answer, sent if was_lost else None))
    return acts, model


@given(MOMENTS)
def test_what_happened_is_explained(moments):
    """Each act at one moment between its sending and its answer; what was not answered was done before."""
    acts, model = lived(moments)
    assert model.state() in explained.ends(beginning(), acts, PAIR)


def test_a_follow_that_was_answered_is_there():
    (state,) = explained.ends(beginning(), [act("alice", "follow", 1, 1, 2, "done")], PAIR)
    assert state[0] == {PAIR}


def test_an_answer_that_nothing_explains():
    """Nobody had asked, and nobody was private."""
    for verb, answer in (("accept", "done"), ("follow", "asked")):
        assert not explained.ends(beginning(), [act("alice", verb, 1, 1, 2, answer)], PAIR)


def test_what_was_sent_later_happened_later():
    acts = [act("alice", "follow", 1, 1, 2, "done"), act("bob", "block", 3, 3, 4, "done")]
    (state,) = explained.ends(beginning(), acts, PAIR)
    assert state[0] == set()
    at_once = [acts[0], act("bob", "block", 1, 1, 4, "done")]
    assert {len(each[0]) for each in explained.ends(beginning(), at_once, PAIR)} == {0}  # the block comes last, or 404


def test_what_was_not_answered_may_be_done_late_but_not_for_ever():
    """A follow whose answer was lost, done again behind an unfollow; far behind it no more."""
    lost = act("alice", "follow", 1, 2, 3, "done", 1)
    soon = [lost, act("alice", "unfollow", 4, 4, 5, "done")]
    assert {len(each[0]) for each in explained.ends(beginning(), soon, PAIR)} == {0, 1}
    late = 1 + explained.LATE_S
    far = [lost, act("alice", "unfollow", late + 1, late + 1, late + 2, "done")]
    assert {len(each[0]) for each in explained.ends(beginning(), far, PAIR)} == {0}


def test_a_request_of_an_account_that_went_public_is_accepted_some_time():
    acts = [
        act("bob", "turn private", 1, 1, 2, "done"),
        act("alice", "follow", 3, 3, 4, "asked"),
        act("bob", "turn public", 5, 5, 6, "done"),
    ]
    states = explained.ends(beginning(), acts, PAIR)
    assert {(len(each[0]), len(each[1])) for each in states} == {(0, 1), (1, 0)}
