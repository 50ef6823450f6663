"""Counts against rows: repairs what differs, and only what cannot be an event on its way.

Rule: look; wait until the bridge has published whatever was committed before, and the group has counted whatever the
topic held then; look again. If nothing at all has changed, no event was on its way and none came, so the difference is
drift: it is added, on the condition that the counts still have that version, and never set. If anything has changed,
begin again. The version rises with every write of the counts, so to and fro is a change too.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Protocol

from count_aggregator.dynamo_accounts import Look
from murmuration_runtime.errors import StoreAwayError

SKEW_MS = 1_000  # the bridge's clock may be so much ahead of ours
PAUSE_SECONDS = 0.25
ROUNDS = 10
_log = logging.getLogger(__name__)

Offsets = Mapping[tuple[str, int], int]
"""An offset of each partition of the topic."""


class Accounts(Protocol):
    """Rows and counts; dynamo_accounts.Accounts."""

    def look(self, user_id: str) -> Look:
        """Look at one account."""

    def repair(self, user_id: str, look: Look) -> bool:
        """Add its drift, if nothing has changed."""


class NeverStillError(Exception):
    """Events are on their way for longer than anybody would wait; nothing was repaired meanwhile."""


@dataclass
class Summary:
    """What was found."""

    checked: int = 0
    drifted: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    negative: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)

    def told(self) -> dict[str, object]:
        """Return how many of each there are, and the first of those who matter."""
        counts = {name: len(found) if isinstance(found, list) else found for name, found in asdict(self).items()}
        return {**counts, "users": self.drifted[:100], "busy_users": self.busy[:100]}


class Reconciliation:
    """One run over some accounts."""

    def __init__(
        self,
        accounts: Accounts,
        published_until: Callable[[], int],
        ends: Callable[[], Offsets],
        counted: Callable[[], Offsets],
        patience_seconds: float,
        tell: Callable[[str], object] = lambda _: None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """published_until: the moment (ms) up to which everything is on Kafka. ends: where the topic's partitions end.

        counted: how far they are counted. patience_seconds: how long to wait for events on their way.
        """
        self._accounts = accounts
        self._published_until = published_until
        self._ends = ends
        self._counted = counted
        self._patience_seconds = patience_seconds
        self._tell = tell
        self._now = now
        self._sleep = sleep

    def run(self, users: Iterable[str], tolerance: float = 0.0) -> Summary:
        """Check the accounts, and repair where the drift of a count is more than this part of its rows."""
        summary = Summary()
        pending: Collection[str] = [*users]
        summary.checked = len(pending)
        for _ in range(ROUNDS):
            pending = self._round(pending, tolerance, summary)
            if not pending:
                break
        summary.busy = sorted(pending)
        return summary

    def _round(self, users: Collection[str], tolerance: float, summary: Summary) -> list[str]:
        """Look twice at whoever differs; return those who changed between the looks."""
        looks = {}
        for number, user in enumerate(users, 1):
            self._tell(f"looking at account {number} of {len(users)}")
            if _matters(look := self._accounts.look(user), tolerance):
                looks[user] = look
        if not looks:
            return []
        self._until_counted()
        changed = []
        for user, look in looks.items():
            if self._accounts.look(user) != look:
                changed.append(user)
                continue
            if user not in summary.drifted:
                self._report(user, look, summary)
            if self._accounts.repair(user, look):
                summary.repaired.append(user)
            else:
                changed.append(user)
        return changed

    def _report(self, user: str, look: Look, summary: Summary) -> None:
        summary.drifted.append(user)
        fields = {"user_id": user, **asdict(look), "followers_drift": look.drift[0], "following_drift": look.drift[1]}
        _log.error("drift", extra=fields)
        if min(look.followers_count, look.following_count) < 0:
            summary.negative.append(user)
            _log.error("negative count", extra=fields)

    def _until_counted(self) -> None:
        """Return when everything that was committed before now has been counted."""
        looked_at = self._now() * 1000 + SKEW_MS
        self._wait("the bridge to publish what was committed", lambda: self._published_until() > looked_at)
        ends: dict[tuple[str, int], int] = {}

        def passed() -> bool:
            if not ends:
                ends.update(self._ends())
            counted = self._counted()
            return all(counted[partition] >= end for partition, end in ends.items())

        self._wait("the aggregator to count what was published", passed)

    def _wait(self, what: str, holds: Callable[[], bool]) -> None:
        deadline = self._now() + self._patience_seconds
        self._tell(f"waiting for {what}")
        why = ""
        while True:
            try:
                if holds():
                    return
            except StoreAwayError as error:
                why = f": {error}"
            if self._now() > deadline:
                raise NeverStillError(
                    f"waited {self._patience_seconds:.0f} s for {what}{why}; nothing was repaired meanwhile"
                )
            self._sleep(PAUSE_SECONDS)


def _matters(look: Look, tolerance: float) -> bool:
    rows = look.followers, look.following
    return any(abs(drift) > tolerance * count for drift, count in zip(look.drift, rows, strict=True))
