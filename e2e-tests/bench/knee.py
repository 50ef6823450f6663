"""How much one machine carries: the load rises until reads or freshness pass their bounds; what is the bottleneck then.

Each load is one write for a hundred reads; a write is in turn a tweet to 200 followers and a follow. Requests come when
they are due, however long others take. The plot is .stack/knee.svg.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from murmuration_testkit import REPOSITORY
from murmuration_testkit.knee.bottleneck import GENERATOR, bottleneck, most
from murmuration_testkit.knee.plot import plot
from murmuration_testkit.knee.processors import Processors
from murmuration_testkit.knee.search import (
    MOST_READ_MS,
    MOST_STALE_S,
    Step,
    best,
    next_load,
    p99,
    quantile,
    too_high,
)
from murmuration_testkit.probes import metrics
from murmuration_testkit.processes import caught_up
from murmuration_testkit.services import PROCESSES

from .knee_load import READS_A_WRITE, Load
from .knee_world import AUTHORS, FANS, PEOPLE, World

SECONDS = float(os.environ.get("SECONDS_EACH", "20"))
FIRST = float(os.environ.get("FIRST_LOAD", "100"))
CORES = os.cpu_count() or 1
PLOT = REPOSITORY / ".stack/knee.svg"
LAGS = {  # from a row's own time
    "cdc-bridge": "cdc_bridge_lag_seconds",
    "fanout-worker": "fanout_worker_lag_seconds",
    "count-aggregator": "count_aggregator_lag_seconds",
}
Told = Mapping[str, Mapping[str, float]]


def knee() -> list[dict[str, Any]]:
    """Raise the load to the knee, and say what kept the system from carrying more."""
    world, processors = World(), Processors.of_stack()
    world.make()
    tried: list[Step] = []
    while (load := next_load(tried, FIRST)) is not None:
        for group in ("count-aggregator", "fanout-worker"):
            caught_up(group)
        tried.append(_step(world, processors, load))
        print(_line(tried[-1]), flush=True)
    about = f"{CORES} cores with everything on them, {PEOPLE:,} people, one write for {READS_A_WRITE} reads"
    PLOT.write_text(plot(tried, about))
    good, bad = best(tried), too_high(tried)
    assert bad
    why = f"at {bad.load:.0f} reads/s {' and '.join(bad.faults())}. The bottleneck: {bottleneck(bad, good, CORES)}"
    if not good:
        raise RuntimeError(f"even the first load was too high: {why}")
    return _figures(good, f"{about}; {SECONDS:g} s a load; {why}", tried)


def _step(world: World, processors: Processors, reads_a_second: float) -> Step:
    load = Load(world, reads_a_second, SECONDS)
    before, spent, began = _told(), processors.used(), time.monotonic()
    cores: dict[str, float] = {}

    def ended() -> None:
        took = time.monotonic() - began
        cores.update({name: (used - spent[name]) / took for name, used in processors.used().items()})

    asyncio.run(load.run(ended))
    if load.failures:
        print(f"    {reads_a_second:5.0f} reads/s: failed: {dict(load.failures)}", flush=True)
    after = _told()
    return Step(
        load=reads_a_second,
        reads=len(load.reads) / SECONDS,
        writes=len(load.writes) / SECONDS,
        deliveries=_grown(before, after, "fanout-worker", "fanout_worker_timeline_inserts_total") / SECONDS,
        read_p50_ms=quantile(load.reads, 0.5) * 1000,
        read_p99_ms=p99(load.reads) * 1000,
        write_p99_ms=p99(load.writes) * 1000,
        tweet_p99_s=p99(load.tweets),
        follow_p99_s=p99(load.follows),
        failed=load.failures.total() / (len(load.reads) + len(load.writes)),
        late_ms=p99(load.late) * 1000,
        cores=cores,
        lags=_lags(before, after),
    )


def _told() -> Told:
    """Return what the processes with lags measure."""
    return {process: metrics(int(os.environ[PROCESSES[process].port_variable("ADMIN_PORT")])) for process in LAGS}


def _lags(before: Told, after: Told) -> dict[str, float]:
    """Return what each part adds to how late effects come: all wait for the bridge."""
    means = {}
    for process, metric in LAGS.items():
        count = _grown(before, after, process, f"{metric}_count")
        means[process] = _grown(before, after, process, f"{metric}_sum") / count if count else 0.0
    published = means.pop("cdc-bridge")
    return {"cdc-bridge": published, **{process: max(0.0, mean - published) for process, mean in means.items()}}


def _grown(before: Told, after: Told, process: str, metric: str) -> float:
    return after[process].get(metric, 0.0) - before[process].get(metric, 0.0)


def _line(step: Step) -> str:
    faults = f" TOO HIGH: {' and '.join(step.faults())}" if not step.good else ""
    return (
        f"    {step.load:5.0f} reads/s, {step.writes:4.1f} writes/s, {step.deliveries:5.0f} deliveries/s: reads p50 "
        f"{step.read_p50_ms:.0f} ms, p99 {step.read_p99_ms:.0f} ms; writes p99 {step.write_p99_ms:.0f} ms; p99 of "
        f"freshness {step.tweet_p99_s:.2f} s of tweets, {step.follow_p99_s:.2f} s of follows; "
        f"{sum(step.cores.values()):.2f} cores: {most(step.cores)}.{faults}"
    )


def _figures(good: Step, setup: str, tried: Sequence[Step]) -> list[dict[str, Any]]:
    writes = f"in turn a tweet to {FANS} followers, of {AUTHORS} authors, and a follow; p99 {good.write_p99_ms:.0f} ms"
    own = f"the load generator used {good.cores[GENERATOR]:.2f} cores; 99 % began at most {good.late_ms:.0f} ms late"
    fresh = f"p99 of tweets {good.tweet_p99_s:.2f} s, of follows {good.follow_p99_s:.2f} s, from when the write was due"
    rates = {
        "reads": (good.reads, setup),
        "writes": (good.writes, writes),
        "deliveries": (good.deliveries, "tweets inserted into warm timelines"),
    }
    bounds = {
        "reads, p99": (good.read_p99_ms, "ms", MOST_READ_MS, own),
        "freshness, p99": (good.stale_p99_s, "s", MOST_STALE_S, fresh),
    }
    figures: list[dict[str, Any]] = [
        *(
            {"name": f"knee: {name}", "ours": rate, "unit": "a second", "setup": said}
            for name, (rate, said) in rates.items()
        ),
        *(
            {"name": f"knee: {name}", "ours": value, "unit": unit, "at_most": bound, "setup": said}
            for name, (value, unit, bound, said) in bounds.items()
        ),
    ]
    figures[0]["steps"] = [asdict(step) for step in tried]
    return figures


BENCHMARKS = [knee]
