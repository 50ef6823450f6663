"""What AWS does to its callers, each as a switch, and the dice that decide when."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

Amount = float | tuple[float, float]
"""A probability; or seconds, of which some are drawn from 0 to this, or from the first to the second."""


class Unkindness(StrEnum):
    """One way in which AWS is less kind than a dictionary in memory. Those that end in a LAG take seconds."""

    INDEX_LAG = "an index shows a write only later"
    LISTING_LAG = "DescribeStream shows a new shard, and the end of an old one, only later"
    STREAM_LAG = "a stream shows a record only some time after its commit: an empty page is no tip"
    READ_LAG = "a read that is not consistent shows what was there before the last write"
    CLOCKS_APART_LAG = "each process's clock goes so many seconds before or after AWS's"
    MISSING_SHARD = "one listing lacks one shard"
    CONFLICT = "another transaction holds an item of the write"
    ITEM_BY_ITEM = "others act, and read, between the commits of one transaction's items"
    TORN_READ = "others write between two items of one BatchGetItem, Query or Scan"
    INTERLEAVING = "others act between two calls"
    LOST_ANSWER = "a write is applied, and its answer is lost"
    LATE_WRITE = "a write is applied some seconds after its caller has given up"
    REPEATED_WRITE = "botocore repeats a write whose answer was lost, and so meets its own success"
    THROTTLING = "a call is refused because there were too many"
    UNPROCESSED_KEYS = "BatchGetItem leaves keys unread"
    SHORT_PAGE = "a page of Query or Scan has fewer items than there are, perhaps none"
    EMPTY_PAGE = "GetRecords answers nothing although there are records"
    ROUNDED_TIME = "ApproximateCreationDateTime is rounded down to the second"
    REFUSAL = "one call fails with ValidationException or ResourceNotFoundException, for no reason"
    HANG = "a call is never answered and was not applied"


EVERYTHING: Mapping[Unkindness, Amount] = {
    Unkindness.INDEX_LAG: 5.0,
    Unkindness.LISTING_LAG: 10.0,
    Unkindness.STREAM_LAG: 2.0,
    Unkindness.READ_LAG: 1.0,
    Unkindness.CLOCKS_APART_LAG: 0.5,
    Unkindness.MISSING_SHARD: 0.02,
    Unkindness.CONFLICT: 0.02,
    Unkindness.ITEM_BY_ITEM: 0.2,
    Unkindness.TORN_READ: 0.1,
    Unkindness.INTERLEAVING: 0.1,
    Unkindness.LOST_ANSWER: 0.02,
    Unkindness.LATE_WRITE: 0.01,
    Unkindness.REPEATED_WRITE: 0.02,
    Unkindness.THROTTLING: 0.02,
    Unkindness.UNPROCESSED_KEYS: 0.05,
    Unkindness.SHORT_PAGE: 0.05,
    Unkindness.EMPTY_PAGE: 0.1,
    Unkindness.ROUNDED_TIME: 1.0,
    Unkindness.REFUSAL: 0.005,
    Unkindness.HANG: 0.01,
}


@dataclass
class Dice:
    """Decides what happens, and counts what did."""

    random: Random
    switches: dict[Unkindness, Amount]
    occurred: Counter[Unkindness] = field(default_factory=Counter)
    ordered: list[tuple[Unkindness, str, str]] = field(default_factory=list)

    @property
    def idle(self) -> bool:
        """Say whether everything is kind."""
        return not self.switches and not self.ordered

    def falls(self, unkindness: Unkindness, operation: str = "", table: str = "") -> bool:
        """Say whether to be unkind now; whoever then is must count it."""
        for order in self.ordered:
            if order[0] is unkindness and order[1] in ("", operation) and order[2] in ("", table):
                self.ordered.remove(order)
                return True
        chance = self.switches.get(unkindness, 0)
        return isinstance(chance, int | float) and chance > 0 and self.random.random() < chance

    def seconds(self, unkindness: Unkindness) -> float:
        """Draw how long this lasts."""
        amount = self.switches.get(unkindness, 0)
        low, high = amount if isinstance(amount, tuple) else (0, amount)
        return self.random.uniform(low, high) if high else 0.0
