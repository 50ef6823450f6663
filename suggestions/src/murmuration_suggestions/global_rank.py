"""PageRank of everybody, by the power method. Pure.

Rule: the rank of each is added up in the order of their followers, so the result is the same to the last bit each time.
Who follows nobody passes their rank on to everybody alike.
"""

import numpy as np

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.pairs import Floats, sums

DAMPING = 0.85
TOLERANCE = 1e-7  # what the last round moved, in all: then nobody is further than 1e-6 from where they would end
MOST_ROUNDS = 150  # 0.85 to this power is below the tolerance


def page_rank(following: Adjacency, followers: Adjacency) -> Floats:
    """Return the rank of each; all are 1 together."""
    size = len(following.offsets) - 1
    degrees = following.degrees
    cuts = followers.ranges(0, size)
    ranks = np.full(size, 1 / max(size, 1))
    for _ in range(MOST_ROUNDS):
        passed = np.where(degrees > 0, ranks / np.maximum(degrees, 1), 0.0)
        even = (1 - DAMPING + DAMPING * ranks[degrees == 0].sum()) / max(size, 1)
        new = np.concatenate([_received(followers, passed, begin, end) for begin, end in cuts] or [ranks])
        new = even + DAMPING * new
        moved, ranks = np.abs(new - ranks).sum(), new
        if moved < TOLERANCE:
            break
    return ranks


def _received(followers: Adjacency, passed: Floats, begin: int, end: int) -> Floats:
    rows = np.repeat(np.arange(end - begin), np.diff(followers.offsets[begin : end + 1]))
    givers = followers.people[followers.offsets[begin] : followers.offsets[end]]
    return sums(rows, passed[givers], end - begin)
