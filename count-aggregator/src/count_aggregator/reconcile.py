"""Counts against rows: repairs what differs, and only what cannot be an event on its way.

Rule: look; wait until the bridge has published whatever was committed before, and the group has counted whatever the
topic held then; look again. If nothing at all has changed, no event was on its way and none came, so the difference is
drift: it is added, on the condition that the counts still have that version, and never set. If anything has changed,
begin again. The version rises with every write of the counts, so to and fro is a change too.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from count_aggregator.leases import LeasesAwayError
from count_aggregator.store import Look
from count_aggregator.stream import KafkaAwayError

SKEW_MS = 1_000  # the bridge's clock may be so much ahead of ours
PAUSE_S = 0.25
ROUNDS = 10
_log = logging.getLogger(__name__)


class Accounts(Protocol):
    """Rows and counts; store.Accounts."""

    def look(self, user_id: str) -> Look:
        """Look at one account."""

    def repair(self, user_id: str, look: Look) -> bool:
        """Add its drift, if nothing has changed."""


class Bridge(Protocol):
    """Streams to Kafka; leases.Bridge."""

    def published_until(self) -> int:
        """Return the moment up to which everything is on Kafka."""


class Stream(Protocol):
    """Kafka; stream.Stream."""

    @property
    def partitions(self) -> range:
        """All of them."""

    def ends(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return where they end."""

    def committed(self) -> dict[int, int]:
        """Return how far they are counted."""


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


class Reconciliation:
    """One run over some accounts."""

    def __init__(
        self,
        accounts: Accounts,
        bridge: Bridge,
        stream: Stream,
        patience_s: float,
        tell: Callable[[str, int, int], None] = lambda *_: None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take how long to wait for events on their way, and whom to tell what is done, and how far it is."""
        self._accounts = accounts
        self._bridge = bridge
        self._stream = stream
        self._patience_s = patience_s
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
        for number, user in enumerate(users):
            self._tell("looking at accounts", number, len(users))
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
        _log.error("drift", extra={"user_id": user, "look": str(look), "drift": look.drift})
        if min(look.followers_count, look.following_count) < 0:
            summary.negative.append(user)
            _log.error("negative count", extra={"user_id": user, "look": str(look)})

    def _until_counted(self) -> None:
        """Return when everything that was committed before now has been counted."""
        looked_at = self._now() * 1000 + SKEW_MS
        self._wait("the bridge to publish what was committed", lambda: self._bridge.published_until() > looked_at)
        ends: dict[int, int] = {}

        def passed() -> bool:
            if not ends:
                ends.update(self._stream.ends(self._stream.partitions))
            committed = self._stream.committed()
            return all(committed[partition] >= end for partition, end in ends.items())

        self._wait("the aggregator to count what was published", passed)

    def _wait(self, what: str, holds: Callable[[], bool]) -> None:
        deadline = self._now() + self._patience_s
        self._tell(f"waiting for {what}", 0, 0)
        why = ""
        while True:
            try:
                if holds():
                    return
            except (LeasesAwayError, KafkaAwayError) as error:
                why = f": {error}"
            if self._now() > deadline:
                raise NeverStillError(
                    f"waited {self._patience_s:.0f} s for {what}{why}; nothing was repaired meanwhile"
                )
            self._sleep(PAUSE_S)


def _matters(look: Look, tolerance: float) -> bool:
    rows = look.followers, look.following
    return any(abs(drift) > tolerance * count for drift, count in zip(look.drift, rows, strict=True))
