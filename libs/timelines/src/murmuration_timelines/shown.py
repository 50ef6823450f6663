"""Whose tweets a timeline shows, as digests of their ids. Pure.

Rule: a user is among the shown if their digest is; the digests ascend, so that one is found in a few steps. Two ids
have the same digest with a chance of one in 2^48, so that somebody whom one left goes on to show once in 10^11 times
and more; nobody who is followed is ever left out. For that 5,000 ids are 30 KB and not 175, in Redis and on the way of
each page.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from struct import Struct
from typing import Self

WIDTH = 6
_EACH = Struct(f"{WIDTH}s")
_REMEMBERED = 100_000  # digests
FEW = 800  # digests that are sooner looked through than searched, which takes steps of Python's


@lru_cache(_REMEMBERED)
def digest(user_id: str) -> bytes:
    """Return the digest of a user's id."""
    return blake2b(user_id.encode(), digest_size=WIDTH).digest()


class Shown:
    """Digests in a row, ascending, as they lie in Redis."""

    __slots__ = ("digests",)

    def __init__(self, digests: bytes = b"") -> None:
        self.digests = digests

    @classmethod
    def of(cls, user_ids: Iterable[str]) -> Self:
        """Put together the digests of these users."""
        return cls(b"".join(sorted(set(map(digest, user_ids)))))

    def __contains__(self, user_id: object) -> bool:
        """Tell whether this user's tweets show: to search is faster by far than to make a set of them."""
        return isinstance(user_id, str) and self._has(digest(user_id))

    def __eq__(self, other: object) -> bool:
        """Compare whom they show, in whatever order."""
        return isinstance(other, Shown) and self.each() == other.each()

    def __hash__(self) -> int:
        """Hash whom they show."""
        return hash(self.each())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.digests) // WIDTH} users)"

    def each(self) -> frozenset[bytes]:
        """Return the digests."""
        return frozenset(chain.from_iterable(_EACH.iter_unpack(self.digests)))

    def among(self, users: Mapping[bytes, str]) -> list[str]:
        """Return those of some users, who are given by their digests, whose tweets show."""
        size = len(self.digests) // WIDTH
        if len(users) * size.bit_length() < size:  # fewer steps than to look at each digest
            return [user_id for wanted, user_id in users.items() if self._has(wanted)]
        return [users[each] for each in self.each() & users.keys()]

    def _has(self, wanted: bytes) -> bool:
        digests = self.digests
        if len(digests) <= FEW * WIDTH:
            at = digests.find(wanted)
            while at % WIDTH and at > 0:  # the end of one digest and the beginning of the next
                at = digests.find(wanted, at + 1)
            return at >= 0
        at = bisect_left(range(len(digests) // WIDTH), wanted, key=lambda n: digests[n * WIDTH : (n + 1) * WIDTH])
        return digests[at * WIDTH : (at + 1) * WIDTH] == wanted
