"""Renewing what this process holds, beside whatever else it does.

Rule: one write for each shard and round, and nothing in a round waits for a stream or for Kafka.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import LeaseLostError

THREADS = 4  # a write takes 5 ms: 1,600 leases in a round of two seconds
_log = logging.getLogger(__name__)


class Renewals:
    """Renews the leases that are held, once a round."""

    def __init__(
        self, held: Callable[[], Iterable[HeldLease]], round_seconds: float, steady: Callable[[], int]
    ) -> None:
        self._held = held
        self._round_seconds = round_seconds
        self._steady = steady
        self._stopping = threading.Event()
        self.heard_at = steady()

    def run(self) -> None:
        """Renew round after round, until told to stop."""
        with ThreadPoolExecutor(THREADS, "renewals") as threads:
            while not self._stopping.is_set():
                began = self._steady()
                list(threads.map(self.renew, self._held()))
                self._stopping.wait(max(0, self._round_seconds - (self._steady() - began) / 1000))

    def stop(self) -> None:
        """Ask the rounds to end."""
        self._stopping.set()

    def renew(self, lease: HeldLease) -> None:
        """Renew a lease; one that is lost says so to its reader, and whatever else fails is tried again next round."""
        self.heard_at = self._steady()
        try:
            lease.renew()
        except LeaseLostError:
            return
        except Exception as error:  # noqa: BLE001 - one lease's trouble is no other's
            extra = {"shard_id": lease.lease.shard_id, "reason": str(error)}
            _log.warning("lease not renewed; retrying in the next round", extra=extra)
