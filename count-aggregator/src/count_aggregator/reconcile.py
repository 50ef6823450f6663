"""Counts against rows: repairs what differs, and only what cannot be an event on its way.

Rule: look; wait until whatever was committed before is published and counted; look again, well apart. If nothing at all
has changed, no event was on its way and none came, so the difference is drift: it is added, on the condition that the
counts still have that version, and never set. If anything has changed, begin again. The version rises with every write
of the counts, so to and fro is a change too.

murmuration_worker.zero_lag says when nothing is on its way. An index may lag without a bound, so it only says whom to
suspect: whom somebody follows is counted in the table itself before that count is repaired. An account that never
stands still is reported with the middle of what its looks showed, and never repaired by that.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median_low
from typing import Protocol

from count_aggregator.dynamo_accounts import Look
from murmuration_worker.zero_lag import APART_SECONDS, Offsets, ZeroLag

NOTICED = 0.001  # the part of a count that anybody would notice
ROUNDS = 5
_log = logging.getLogger(__name__)


class Accounts(Protocol):
    """Rows and counts; dynamo_accounts.Accounts."""

    def look(self, user_id: str) -> Look:
        """Look at one account."""

    def following(self, users: Collection[str]) -> Mapping[str, int]:
        """Count in the table itself whom they follow."""

    def repair(self, user_id: str, look: Look) -> bool:
        """Add its drift, if nothing has changed."""


@dataclass
class Summary:
    """What was found; of those who never stood still also what their drift seems to be."""

    checked: int = 0
    drifted: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    negative: list[str] = field(default_factory=list)
    busy: dict[str, tuple[int, int]] = field(default_factory=dict)
    busy_drifted: list[str] = field(default_factory=list)

    def told(self) -> dict[str, object]:
        """Return how many of each there are, and the first of those who matter."""
        counts = {name: found if isinstance(found, int) else len(found) for name, found in asdict(self).items()}
        return {**counts, "users": self.drifted[:100], "busy_users": dict([*self.busy.items()][:100])}


class Reconciliation:
    """One run over some accounts."""

    def __init__(
        self,
        accounts: Accounts,
        published_until: Callable[[], int],
        ends: Callable[[], Offsets],
        counted: Callable[[], Offsets],
        patience_seconds: float,
        apart_seconds: float = APART_SECONDS,
        tell: Callable[[str], object] = lambda _: None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """published_until: the moment (ms) up to which the bridge says that all is on Kafka. ends: of the partitions.

        counted: how far they are counted. patience_seconds: how long to wait for events on their way.
        apart_seconds: how far apart two looks are, at least. until_counted returns when all that was committed before
        is counted.
        """
        self._accounts = accounts
        self._tell = tell
        self.until_counted = ZeroLag(
            published_until,
            ends,
            counted,
            "the aggregator to count",
            patience_seconds,
            apart_seconds,
            tell,
            now,
            sleep,
        ).wait
        self._looks: dict[str, list[Look]] = {}

    def run(self, users: Iterable[str], tolerance: float = 0.0, *, prove: bool = False) -> Summary:
        """Check the accounts, and repair where the drift of a count is more than this part of its rows.

        A first look that shows no drift is enough, unless `prove`: then an event on its way might hide it.
        """
        summary = Summary()
        pending: Collection[str] = [*users]
        summary.checked = len(pending)
        self._looks = defaultdict(list)
        for _ in range(ROUNDS):
            pending = self._round(pending, -1 if prove else tolerance, tolerance, summary)
            if not pending:
                break
        for user in sorted(pending):
            self._report_busy(user, summary)
        return summary

    def _round(self, users: Collection[str], suspected: float, tolerance: float, summary: Summary) -> list[str]:
        """Look twice at whom the first look makes a suspect; return those who changed between the looks."""
        looks = {}
        for number, user in enumerate(users, 1):
            self._tell(f"looking at account {number} of {len(users)}")
            look = self._accounts.look(user)
            if _is_beyond(suspected, look):
                looks[user] = look
                self._looks[user].append(look)
        if not looks:
            return []
        self.until_counted()
        still = {user: look for user, look in looks.items() if self._accounts.look(user) == look}
        drifted = {user: look for user, look in still.items() if _is_beyond(tolerance, look)}
        confirmed = self._confirmed(drifted)
        repaired = {user for user, look in confirmed.items() if self._repair(user, look, summary)}
        settled = (still.keys() - drifted.keys()) | repaired
        return [user for user in looks if user not in settled]

    def _confirmed(self, drifted: Mapping[str, Look]) -> Mapping[str, Look]:
        """Return those whose drift the table shows, too: what they follow was looked up in an index, which may lag."""
        by_index = {user for user, look in drifted.items() if look.drift[1]}
        if not by_index:
            return drifted
        self._tell(f"counting in the table whom {len(by_index)} accounts follow")
        rows = self._accounts.following(by_index)
        self.until_counted()  # what was committed while the table was read changes a version before the repair
        return {user: look for user, look in drifted.items() if user not in by_index or rows[user] == look.following}

    def _repair(self, user: str, look: Look, summary: Summary) -> bool:
        if not self._accounts.repair(user, look):
            return False
        summary.drifted.append(user)
        summary.repaired.append(user)
        fields = {"user_id": user, **asdict(look), "followers_drift": look.drift[0], "following_drift": look.drift[1]}
        _log.error("drift", extra=fields)
        if min(look.followers_count, look.following_count) < 0:
            summary.negative.append(user)
            _log.error("negative count", extra=fields)
        return True

    def _report_busy(self, user: str, summary: Summary) -> None:
        looks = self._looks[user]
        drift = median_low(look.drift[0] for look in looks), median_low(look.drift[1] for look in looks)
        summary.busy[user] = drift
        rows = looks[-1].followers, looks[-1].following
        if any(abs(each) > max(1, NOTICED * count) for each, count in zip(drift, rows, strict=True)):
            summary.busy_drifted.append(user)
        fields = {"user_id": user, "followers_drift_estimated": drift[0], "following_drift_estimated": drift[1]}
        _log.warning("account never stood still; nothing is repaired", extra=fields)


def _is_beyond(tolerance: float, look: Look) -> bool:
    """Say whether a count differs by more than this part of its rows; below zero, every look does."""
    rows = look.followers, look.following
    return tolerance < 0 or any(abs(drift) > tolerance * count for drift, count in zip(look.drift, rows, strict=True))
