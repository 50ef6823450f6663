"""What kept a system from carrying more, as far as processor time and lags tell. Pure."""

from collections.abc import Iterator, Mapping

from murmuration_testkit.knee.search import MOST_STALE_S, Step

GENERATOR = "load generator"
STRANGERS = "others"
SEVERAL_CORES = ("kafka", "dynamodb", "registry", STRANGERS)  # all else is one thread, or one at a time
FULL = 0.85  # of a core, or of all: the rest is lost between two that wait for each other
NOTICEABLE = 0.15
NAMED = 4


def bottleneck(bad: Step, good: Step | None, cores: int) -> str:
    """Name what was full when a load was too high, and which lag had grown since the last good load."""
    return "; ".join((_processors(bad.cores, cores), *_lags(bad, good), *_doubts(bad.cores)))


def most(used: Mapping[str, float], count: int = NAMED) -> str:
    """Name who used the processors most."""
    ranked = sorted(used.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {share:.2f}" for name, share in ranked[:count])


def _processors(used: Mapping[str, float], cores: int) -> str:
    alone = {name: share for name, share in used.items() if name not in SEVERAL_CORES}
    name, share = max(alone.items(), key=lambda each: each[1])
    busy, ranking = sum(used.values()), most(used)
    if share >= FULL:
        return f"{name}, which can use one core and used {share:.2f} (of all {busy:.2f} of {cores} cores: {ranking})"
    if busy >= FULL * cores:
        return f"the machine: {busy:.2f} of {cores} cores were busy, most of them by {ranking}"
    return f"no processor: only {busy:.2f} of {cores} cores were busy, most of them by {ranking}"


def _lags(bad: Step, good: Step | None) -> Iterator[str]:
    if bad.stale_p99_s <= MOST_STALE_S:
        return
    before = good.lags if good else {}
    name = max(bad.lags, key=lambda part: bad.lags[part] - before.get(part, 0.0))
    yield f"the lag of {name} grew most, from {before.get(name, 0.0):.2f} to {bad.lags[name]:.2f} s in the mean"


def _doubts(used: Mapping[str, float]) -> Iterator[str]:
    if used.get(STRANGERS, 0.0) > NOTICEABLE:
        yield f"{used[STRANGERS]:.2f} cores were used by others: measure again on an idle machine"
    if used.get(GENERATOR, 0.0) >= FULL:
        yield "the load generator is the limit: the system may carry more"
