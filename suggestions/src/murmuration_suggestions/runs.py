"""Runs: stretches of an array that belong together. Pure."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def runs(ordered: Numbers) -> tuple[Numbers, Numbers]:
    """Return where each run of equal numbers begins in an ascending array, and how long it is."""
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    return starts, np.diff(starts, append=len(ordered))


def numbered(lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Return of everything in runs of these lengths in which run it is, and its number there, from 0 on."""
    of = np.repeat(np.arange(len(lengths)), lengths)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
