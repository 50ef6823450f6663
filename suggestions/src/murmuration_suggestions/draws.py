"""Numbers that look random and are a function of what they are for, so that nobody has to draw them in order. Pure."""

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(bits: Bits) -> Bits:
    """Scatter each number over all 64 bits, by the finalizer of SplitMix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


def draws(what: Bits, nth: Bits) -> Bits:
    """Return the nth number for each of these, counted from 0."""
    return mixed(mixed(what) + (nth + np.uint64(1)) * _STEP)


def below(bits: Bits, limits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn the lower 32 bits of each into a number from 0 up to its limit, which must be below 2^32."""
    low = bits & np.uint64(0xFFFFFFFF)
    return ((low * limits.astype(np.uint64)) >> np.uint64(32)).astype(np.int64)


def fractions(bits: Bits) -> NDArray[np.float64]:
    """Turn the upper 32 bits of each into a number from 0 up to 1."""
    return (bits >> np.uint64(32)).astype(np.float64) / 2**32
