"""What a home timeline is, and how its sources become one. Pure: no clock, no I/O.

Rule: the truth is the undeleted tweets of everyone the user follows now, and the user's own, newest first. A source of
ids (a list in Redis, an author's tweets by an index) is strictly descending, and a superset of its part of the truth
from its head down to its own floor: ids too many are harmless, a hole is not. So whatever lies above the highest floor
of all sources holds the truth, and below that floor the database is asked. The read decides what shows: it drops what
is deleted, and what is of nobody followed. Ids are 19 digits: they compare as texts.
"""

import heapq
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice

from murmuration_timelines.heads import Head
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.shown import Shown

TOP = "9" * 19  # above every id


@dataclass(frozen=True)
class Run:
    """Ids, strictly descending, and complete from the head down to the floor."""

    ids: Sequence[str]
    floor: str


@dataclass(frozen=True)
class Timeline(Run):
    """What a user may see, and whose tweets show to them, their own included; of a warm one also its head."""

    shown: Shown
    head: Head | None = field(default=None, compare=False)


def union(runs: Collection[Run], below: str = TOP, count: int | None = None) -> Run:
    """Merge what lies below an id, without repeats: complete down to the highest floor, or to the last id wanted."""
    if len(runs) == 1:  # nearly every page
        (run,) = runs
        ids = list(older(run.ids, below)[:count])
        return Run(ids, ids[-1] if ids and len(ids) == count else run.floor)
    floor = max([run.floor for run in runs])
    parts = [older(run.ids, below) for run in runs]
    least = max([floor, *(part[count - 1] for part in parts if count and len(part) >= count)])  # none below is wanted
    merged = heapq.merge(*[part for part in parts if part and part[0] >= least], reverse=True)
    ids = [tweet_id for tweet_id, _ in islice(groupby(merged), count)]
    ids = ids[: len(ids) - len(older(ids, floor))]
    return Run(ids, ids[-1] if ids and len(ids) == count else floor)


def incomplete(runs: Mapping[str, Run], count: int) -> dict[str, str]:
    """Return the floors of the runs that end above the last of the newest `count` ids: only these need more."""
    ids = sorted({*chain.from_iterable(run.ids for run in runs.values())}, reverse=True)
    last = ids[count - 1] if len(ids) >= count else BEGINNING
    return {name: run.floor for name, run in runs.items() if run.floor > last}


def older(ids: Sequence[str], below: str) -> Sequence[str]:
    """Return those of the descending ids that are below this one."""
    if not ids or ids[0] < below:  # nearly always
        return ids
    return ids[bisect_left(ids, True, key=lambda tweet_id: tweet_id < below) :]
