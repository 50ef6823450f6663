"""Renewing what this process holds, beside whatever else it does.

Rule: one write for each shard and round, two for those whose progress others wait for; and nothing in a round waits for
a stream or for Kafka.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from cdc_bridge.held_lease import HeldLease
from cdc_bridge.leases import LeaseLostError
from murmuration_runtime.errors import StoreAwayError

THREADS = 4  # a write takes 5 ms: 1,600 leases in a round of two seconds
_log = logging.getLogger(__name__)


class Renewals:
    """Renews the leases that are held, once a round, and the prompt ones also in the middle of it."""

    def __init__(
        self,
        held: Callable[[], Iterable[HeldLease]],
        round_seconds: float,
        steady: Callable[[], int],
        prompt: Callable[[], Collection[HeldLease]] = tuple,
        renewed: Callable[[], object] = lambda: None,
    ) -> None:
        """renewed: called beside the renewals when the prompt ones are done, if there are any."""
        self._held = held
        self._round_seconds = round_seconds
        self._steady = steady
        self._prompt = prompt
        self._renewed = renewed
        self._telling: Future[None] | None = None
        self._stopping = threading.Event()
        self.heard_at = steady()

    def run(self) -> None:
        """Renew round after round, until told to stop."""
        with ThreadPoolExecutor(THREADS, "renewals") as threads, ThreadPoolExecutor(1, "streams' progress") as teller:
            while not self._stopping.is_set():
                for half in (self._held, self._prompt):
                    began = self._steady()
                    list(threads.map(self.renew, half()))
                    self._tell(teller)
                    self._stopping.wait(max(0, self._round_seconds / 2 - (self._steady() - began) / 1000))

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

    def _tell(self, teller: ThreadPoolExecutor) -> None:
        if self._prompt() and not self._stopping.is_set() and (self._telling is None or self._telling.done()):
            self._telling = teller.submit(self._tell_once)

    def _tell_once(self) -> None:
        try:
            self._renewed()
        except StoreAwayError:
            return  # the renewals have told it
        except Exception:  # noqa: BLE001 - it is said again in half a round
            _log.exception("the streams' progress is not told; it is tried again")
