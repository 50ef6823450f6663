"""Some of all timelines, chosen by chance, for who compares them with the tables.

Rule: each that there is has the same chance. The keys are read once through, a few at a time, and no list of all of
them is kept.
"""

import random
from collections.abc import Iterable
from typing import NamedTuple

from murmuration_runtime.redis_nodes import Nodes
from murmuration_timelines import layout

AT_ONCE = 1_000
_AUTHOR = layout.author_shown("").partition("{")[0]


class Owner(NamedTuple):
    """Whose timeline it is, and of which kind: what they read at home, or what they said themselves."""

    user_id: str
    is_author: bool = False


def sample(nodes: Nodes, count: int, chance: random.Random) -> list[Owner]:
    """Return the owners of so many timelines, or of all if there are no more."""
    with nodes.errors_named():
        keys = nodes.client.scan_iter("*_shown:{*", count=AT_ONCE)
        return [_owner(key) for key in _some(keys, count, chance)]


def _some(keys: Iterable[str], count: int, chance: random.Random) -> list[str]:
    """Choose as the keys come: the n-th replaces one of the chosen with a chance of count in n."""
    chosen: list[str] = []
    for n, key in enumerate(keys):
        if n < count:
            chosen.append(key)
        elif (place := chance.randrange(n + 1)) < count:
            chosen[place] = key
    return chosen


def _owner(key: str) -> Owner:
    kind, _, user_id = key.partition("{")
    return Owner(user_id.removesuffix("}"), kind == _AUTHOR)
