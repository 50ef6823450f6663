"""Counts what each caller spends, and reports it in batches to the buckets that all processes share.

Rule: a call waits for the shared buckets only if it would exceed a batch of that caller's unreported tokens; one thread
reports the rest within a second. While a caller's shared bucket does not answer, each process counts that caller
alone, at the full rate, and only that thread asks for the bucket. So in t seconds a caller gets at most
burst + rate * t + n * batch tokens of n processes, and while they count alone n * (burst + rate * t).
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from murmuration_edge.metrics import LIMITS_ALONE, SETTLED
from murmuration_edge.token_buckets import Bucket, Budget
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.periodic import keep_calling

SETTLE_SECONDS = 1.0
MOST_AT_ONCE = 500  # buckets in one call: Redis does nothing else meanwhile
MOST_KNOWN = 100_000  # buckets of a budget, of about 250 bytes each
_log = logging.getLogger(__name__)


class Charge(NamedTuple):
    """What a process spent of one caller's budget."""

    budget: Budget
    caller_id: str
    tokens: int


class SharedBuckets(Protocol):
    """The buckets that all processes have together."""

    def charge(self, charges: Sequence[Charge]) -> Sequence[float | None]:
        """Take these tokens; return for each bucket the seconds until it is full.

        None stands for a bucket that did not answer and was not charged; if none answers, it raises StoreAwayError.
        """


class Standing(NamedTuple):
    """How a caller stands after a call: seconds to wait if refused, tokens left, seconds until all are back."""

    wait: float
    left: int
    full_in: float


class Leases:
    """Safe among threads."""

    def __init__(
        self,
        budgets: Sequence[Budget],
        shared: SharedBuckets | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._now = now
        self._budgets = budgets
        self._known: dict[str, dict[str, Bucket]] = {budget.name: {} for budget in budgets}
        self._is_away = False  # for somebody, when last heard of
        self._changing = threading.Lock()
        self._settling = threading.Lock()

    def take(self, budget: Budget, caller_id: str, cost: int) -> Standing:
        """Take what a call costs out of the caller's budget; or take nothing, and say how long to wait."""
        known = self._known[budget.name]
        while True:
            now = self._now()
            with self._changing:
                bucket = known.get(caller_id)
                if bucket is None:
                    if len(known) >= MOST_KNOWN:
                        del known[next(iter(known))]  # the oldest: it may spend a batch more than its budget
                    bucket = known[caller_id] = Bucket()
                is_alone = self._shared is None or bucket.is_alone
                wait = bucket.wait(budget, cost, now)
                must_tell = not is_alone and bucket.owed and bucket.owed + cost > budget.batch
                if wait > 0 or not must_tell:
                    if wait <= 0:
                        bucket.spend(budget, cost, now)
                    return Standing(wait, bucket.left(budget, now), max(bucket.full_at - now, 0.0))
            self._settle([(budget, caller_id, bucket)])

    def keep_settling(self) -> None:
        """Report what is owed every second, as long as the process lives."""
        keep_calling("limits", self.turn, SETTLE_SECONDS)

    def turn(self) -> None:
        """Report what is owed to the shared buckets, and forget the buckets that are full."""
        told: list[bool] = []
        for budget in self._budgets:
            known = self._known[budget.name]
            owing = [(budget, caller_id, bucket) for caller_id, bucket in list(known.items()) if bucket.owed]
            for start in range(0, len(owing), MOST_AT_ONCE):
                heard = self._settle(owing[start : start + MOST_AT_ONCE])
                told += heard
                if not any(heard):
                    break
            now = self._now()
            for caller_id, bucket in list(known.items()):
                if bucket.full_at <= now:
                    with self._changing:
                        if bucket.full_at <= now and (self._shared is None or bucket.is_alone or not bucket.owed):
                            known.pop(caller_id, None)
        if told and all(told):
            self._are_back()

    def _settle(self, owing: Sequence[tuple[Budget, str, Bucket]]) -> Sequence[bool]:
        """Report to the shared buckets, and take over what they answer; return for each whether it answered."""
        if self._shared is None:
            return [False]
        reason = "one of its nodes did not answer"
        with self._settling:  # one at a time, so that each answer counts what this process reported before
            charges = [Charge(budget, caller_id, bucket.owed) for budget, caller_id, bucket in owing]
            answers: Sequence[float | None]
            try:
                answers = self._shared.charge(charges)
            except StoreAwayError as error:
                answers, reason = [None] * len(charges), str(error)
            now = self._now()
            with self._changing:
                for (budget, _, bucket), charge, full_in in zip(owing, charges, answers, strict=True):
                    if full_in is None:
                        bucket.is_alone = True
                    else:
                        bucket.settle(budget, charge.tokens, full_in, now)
        told = [each is not None for each in answers]
        SETTLED.inc(told.count(True))
        if not all(told):
            self._are_away(reason)
        return told

    def _are_away(self, reason: str) -> None:
        if not self._is_away:
            _log.warning("each process counts its callers alone", extra={"reason": reason})
        self._is_away = True
        LIMITS_ALONE.set(1)

    def _are_back(self) -> None:
        if self._is_away:
            _log.warning("callers are counted together again")
        self._is_away = False
        LIMITS_ALONE.set(0)
