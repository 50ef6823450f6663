"""Personalised PageRank by random walks with restart, as in Pinterest's Pixie: visits are counted, and it stops early.

Rule: walk w of somebody draws its numbers from their seed and w alone, so whoever walks beside them, on however many
machines, changes nothing. A walk begins at its owner, goes on to somebody whom the last one follows, and ends by chance
before any step, or where nobody is followed. The visits of somebody, as a share of all visits, are on average their
personalised PageRank, where who follows nobody leads back to the owner.

Pure. No more walks are begun for whom enough people were visited often enough.
"""

from dataclasses import dataclass

import numpy as np

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.draws import Bits, below, draws, fractions
from murmuration_suggestions.pairs import Floats, Pairs, counted
from murmuration_suggestions.runs import Numbers

LONGEST = 200  # steps: what is left of 0.85 after so many is nothing


@dataclass(frozen=True)
class Plan:
    """How much is walked."""

    restart: float  # the chance that a walk ends before a step
    walks_a_round: int
    rounds: int
    enough_people: int  # who were visited
    enough_visits: int  # so often: then this was the last round


@dataclass(frozen=True)
class Visited:
    """Who was visited how often from whom, and all visits of each owner, the beginnings among them."""

    visits: Pairs
    totals: Floats

    def ranks(self, size: int) -> Pairs:
        """Return the estimated personalised PageRank of everybody who was visited."""
        return Pairs(self.visits.keys, self.visits.values / self.totals[self.visits.keys // size])


def walk(following: Adjacency, rows: Numbers, seeds: Bits, plan: Plan) -> Visited:
    """Walk from these people."""
    size = len(following.offsets) - 1
    totals = np.zeros(len(rows))
    keys = np.zeros(0, np.int64)
    visits = counted(keys)
    going = np.flatnonzero(following.degree(rows))
    for nth in range(plan.rounds):
        if not len(going):
            break
        new = _round(following, rows, seeds, going, nth, plan)
        totals[going] += plan.walks_a_round
        totals += np.bincount(new // size, minlength=len(rows))
        keys = np.concatenate((keys, new))
        visits = counted(keys)
        often = visits.keys[visits.values >= plan.enough_visits] // size
        going = going[np.bincount(often, minlength=len(rows))[going] < plan.enough_people]
    return Visited(visits, totals)


def _round(following: Adjacency, rows: Numbers, seeds: Bits, going: Numbers, nth: int, plan: Plan) -> Numbers:
    """Return a pair for each visit of one round's walks, but for their beginnings."""
    size = len(following.offsets) - 1
    owners = np.repeat(going, plan.walks_a_round)
    walks = np.tile(np.arange(plan.walks_a_round, dtype=np.uint64), len(going)) + np.uint64(nth * plan.walks_a_round)
    streams = draws(seeds[owners], walks)
    people = rows[owners]
    seen = []
    for step in range(LONGEST):
        bits = draws(streams, np.full(len(streams), step, np.uint64))
        degrees = following.degree(people)
        onward = np.flatnonzero((fractions(bits) >= plan.restart) & (degrees > 0))
        if not len(onward):
            break
        owners, streams = owners[onward], streams[onward]
        people = following.people[following.offsets[people[onward]] + below(bits[onward], degrees[onward])].astype(
            np.int64
        )
        seen.append(owners * size + people)
    return np.concatenate(seen) if seen else np.zeros(0, np.int64)
