"""A stream's listing, asked for no more often than all bridges together may.

Rule: AWS answers ten calls of DescribeStream a second for a whole account, and a hundred shards a call. So each bridge
takes its share of half of them: the more bridges and shards there are, the longer it looks at the listing that it has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cdc_bridge.lineage import Shard

CALLS_A_SECOND = 5  # of all bridges together; the rest is for starts, bridges up to 0.2.0 and readers at a shard's end
SHARDS_A_CALL = 100
SMALL_SECONDS = 0.5  # what costs less is asked for in each round


@dataclass(frozen=True, slots=True)
class Listing:
    """The shards that a stream had at that moment (ms), and whether that is news."""

    shards: Sequence[Shard]
    listed_at: int
    is_new: bool


class Listings:
    """The last listing of each stream."""

    def __init__(
        self,
        ask: Callable[[str], Sequence[Shard]],
        bridges: Callable[[], int],
        wall: Callable[[], int],
        steady: Callable[[], int],
    ) -> None:
        self._ask = ask
        self._bridges = bridges
        self._wall = wall
        self._steady = steady
        self._last: dict[str, tuple[Listing, int]] = {}

    def last(self, stream_arn: str) -> Sequence[Shard]:
        """Return what the last listing named; nothing if there was none."""
        known = self._last.get(stream_arn)
        return known[0].shards if known else ()

    def of(self, stream_arn: str) -> Listing:
        """Return the last listing, or a new one when it is due."""
        now = self._steady()
        listing, due_at = self._last.get(stream_arn, (None, now))
        if listing is not None and now < due_at:
            return listing
        listed_at = self._wall()
        shards = self._ask(stream_arn)
        self._last[stream_arn] = Listing(shards, listed_at, is_new=False), 0
        calls = sum(1 + len(last.shards) // SHARDS_A_CALL for last, _ in self._last.values())
        seconds = calls * self._bridges() / CALLS_A_SECOND
        due_at = now + round(seconds * 1000) if seconds > SMALL_SECONDS else now
        self._last[stream_arn] = Listing(shards, listed_at, is_new=False), due_at
        return Listing(shards, listed_at, is_new=True)
