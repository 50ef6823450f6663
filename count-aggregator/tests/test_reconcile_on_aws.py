"""Reconciliation on the unkind AWS: a healthy system has no drift, and true drift goes, whatever lags."""

from collections import Counter

import pytest

from murmuration_testkit.unkind_aws import UnkindAws, Unkindness
from murmuration_worker.zero_lag import NeverStillError

from .unkind_world import LAGS, PEOPLE, World

SEEDS = range(15)
ENDLESS = LAGS | {Unkindness.INDEX_LAG: 1200.0}


@pytest.fixture(autouse=True)
def _no_logs(caplog):
    caplog.set_level("CRITICAL")


def world_of(seed, unkind=LAGS):
    world = World(UnkindAws(seed, unkind), between_changes=(1, 5, 30)[seed % 3])
    world.aws.sleep(120)
    return world


def test_a_healthy_system_has_no_drift():
    """Under writes all the time, with an index that lags 30 s and a listing that lags 10 s, and all else that lags."""
    occurred, looked, busy = Counter(), 0, 0
    for seed in SEEDS:
        world = world_of(seed)
        reconciliation, _ = world.reconciliation()
        for _ in range(2):
            summary = reconciliation.run(PEOPLE)
            assert (seed, summary.drifted) == (seed, [])
            looked, busy = looked + summary.checked, busy + len(summary.busy)
        world.settle()
        assert (seed, world.wrong()) == (seed, {})
        occurred += world.aws.occurred
    assert busy < looked / 2
    assert {*LAGS} <= {*occurred}


@pytest.mark.parametrize("unkind", [LAGS, ENDLESS], ids=["lags", "an index without a bound"])
def test_true_drift_is_repaired_exactly_and_nothing_else(unkind):
    """Events lost and counts corrupted while people go on; who is not repaired stays exactly as wrong as it was."""
    repaired = 0
    for seed in SEEDS:
        world = world_of(seed, unkind)
        aws, (reconciliation, _) = world.aws, world.reconciliation()
        for _ in range(aws.random.randrange(1, 4)):
            aws.later(aws.random.uniform(0, 100), world.lose_an_event)
        for user in aws.random.sample(PEOPLE, 2):
            by = aws.random.choice([-7, -1, 1, 500])
            aws.later(aws.random.uniform(0, 300), lambda world=world, user=user, by=by: world.corrupt(user, by))
        summaries = [reconciliation.run(PEOPLE) for _ in range(3)]
        world.settle()
        assert (seed, world.wrong()) == (seed, {each: by for each, by in world.injected.items() if by})
        aws.unkind.pop(Unkindness.INDEX_LAG)
        aws.sleep(1200)
        summaries.append(reconciliation.run(PEOPLE))
        assert (seed, world.wrong(), summaries[-1].busy) == (seed, {}, {})
        repaired += sum(len(summary.repaired) for summary in summaries[:-1])
    assert repaired


def test_a_gap_is_closed_only_when_everybody_is_proved_right():
    """Under writes that go on and events that are lost all the time; when people rest it is closed by itself."""
    closed = 0
    for seed in SEEDS:
        world = world_of(seed)
        aws, recount = world.aws, world.recount()
        for _ in range(3):
            aws.later(aws.random.uniform(0, 400), world.lose_an_event)
        for _ in range(3):
            before = recount.gaps()
            try:
                recount.everybody()
            except NeverStillError:
                continue
            closed += before != recount.gaps()
        world.settle()
        while recount.gaps():
            recount.everybody()
        assert (seed, world.wrong()) == (seed, {})
    assert closed
