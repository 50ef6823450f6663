"""What is named as the bottleneck: who had no core left, or the machine, or nobody; and the lag that grew."""

import dataclasses

import pytest

from murmuration_testkit.knee.bottleneck import GENERATOR, STRANGERS, bottleneck
from murmuration_testkit.knee.search import Step

IDLE = {"timeline-service": 0.2, "dynamodb": 0.2, "redis": 0.1, GENERATOR: 0.1, STRANGERS: 0.05}
LAGS = {"cdc-bridge": 0.1, "fanout-worker": 0.1, "count-aggregator": 0.1}
STEP = Step(100, 100, 1, 100, 5, 500, 30, 0.3, 0.2, 0, 1, IDLE, LAGS)
STALE = dataclasses.replace(STEP, tweet_p99_s=3, lags=LAGS | {"fanout-worker": 1.9, "cdc-bridge": 0.4})


def named(cores=2, good=STEP, bad=STEP, **used):
    changed = {name.replace("_", "-"): share for name, share in used.items()}
    return bottleneck(dataclasses.replace(bad, cores=IDLE | changed), good, cores)


def test_a_process_of_one_core_that_used_it_is_the_bottleneck():
    """Whatever the others have left."""
    assert named(timeline_service=0.9, dynamodb=0.95, cores=8).startswith("timeline-service, which can use one core")


def test_a_java_process_may_use_several_cores():
    """So that it used one says nothing, while the machine has more."""
    assert named(dynamodb=1.1, cores=8).startswith("no processor")
    assert named(dynamodb=1.3).startswith("the machine: 1.75 of 2 cores")


def test_all_cores_busy_name_who_kept_them_busy():
    found = named(timeline_service=0.7, dynamodb=0.6, redis=0.3)
    assert found.startswith(
        "the machine: 1.75 of 2 cores were busy, most of them by timeline-service 0.70, dynamodb 0.60"
    )


@pytest.mark.parametrize("good", [STEP, None])
def test_stale_effects_name_the_lag_that_grew_most(good):
    assert "the lag of fanout-worker grew most" in named(bad=STALE, good=good)
    assert "lag" not in named()


def test_a_lag_that_was_there_before_did_not_grow():
    before = dataclasses.replace(STEP, lags=LAGS | {"fanout-worker": 1.8})
    assert "the lag of cdc-bridge grew most, from 0.10 to 0.40 s" in named(bad=STALE, good=before)


def test_who_measures_is_told_when_the_figures_are_not_of_the_system():
    """Others on the machine, or a load generator without a core left."""
    assert "measure again on an idle machine" in named(others=0.5)
    assert "the load generator is the limit" in bottleneck(
        dataclasses.replace(STEP, cores=IDLE | {GENERATOR: 0.9}), STEP, 8
    )
    assert "again" not in named()
    assert "limit" not in named()
