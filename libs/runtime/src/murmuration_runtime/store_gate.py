"""Limits how many calls wait for one node of a store, and for how long.

Rules. After `tries` calls in a row without an answer the node is given up (breaker.py): calls fail at once, and a
thread asks every half second whether the node is back. At most `places` calls run at once. Further callers queue until
their deadline, first come, first served; but if no place has changed hands for PATIENCE_SECONDS, the node is slow, and
they fail at once.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from prometheus_client import Counter, Gauge

from murmuration_runtime import deadlines
from murmuration_runtime.breaker import Breaker
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.metrics import METRICS

PLACES = 12  # fewer than an edge has threads: some stay free for requests that need no store
PATIENCE_SECONDS = 0.5  # the longest time in which no place changes hands
PROBE_SECONDS = 0.5  # between two looks at a node that was given up
_GIVEN_UP = Gauge(
    "store_node_given_up",
    "1 while calls to the node fail at once, since it does not answer.",
    ["node"],
    registry=METRICS,
)
_REFUSED = Counter(
    "store_calls_refused",
    "Calls that were not made: the node was `given up`, or all `places` were taken.",
    ["node", "reason"],
    registry=METRICS,
)
_log = logging.getLogger(__name__)


class StoreGate:
    """Safe among threads."""

    def __init__(
        self,
        node: str,
        probe: Callable[[], object],
        tries: int,
        places: int = PLACES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """probe: returns if the node answers anything, and raises if not, within a second or so."""
        self._node = node
        self._probe = probe
        self._breaker = Breaker(tries)
        self._places = places
        self._clock = clock
        self._taken = 0
        self._last_taken = 0.0
        self._turns: deque[queue.SimpleQueue[bool]] = deque()  # of who waits: told whether the place is theirs
        self._changing = threading.Lock()
        self._probing = False
        _GIVEN_UP.labels(node).set(0)

    def enter(self) -> None:
        """Take a place, or raise StoreAwayError. Whoever has taken one leaves."""
        waits_for = deadlines.current().waits_for
        waits_for.append(self._node)
        try:
            self._take()
        except StoreAwayError:
            waits_for.remove(self._node)
            raise

    def leave(self, *, answered: bool | None) -> None:
        """Give the place back. answered: None if the call had too little time to tell."""
        deadlines.current().waits_for.remove(self._node)
        with self._changing:
            if answered:
                self._breaker.answered()
            elif answered is not None:
                self._breaker.unanswered()
                if self._breaker.is_open:
                    self._give_up()
            if self._turns:
                self._last_taken = self._clock()
                self._turns.popleft().put(True)
            else:
                self._taken -= 1

    def _take(self) -> None:
        with self._changing:
            if self._breaker.is_open:
                self._give_up()
                raise self._given_up()
            if self._taken < self._places:  # then nobody waits
                self._taken += 1
                self._last_taken = self._clock()
                return
            turn: queue.SimpleQueue[bool] = queue.SimpleQueue()
            self._turns.append(turn)
        if not self._wait(turn):
            raise self._given_up()

    def _wait(self, turn: "queue.SimpleQueue[bool]") -> bool:
        """Return whether the place is ours, or raise StoreAwayError once that takes too long."""
        try:
            while True:
                patience = self._patience()
                with suppress(queue.Empty):
                    return turn.get(timeout=deadlines.remaining(patience))
        except StoreAwayError:
            with self._changing:
                if turn in self._turns:
                    self._turns.remove(turn)
                    raise
            return turn.get()  # it came at the last moment

    def _patience(self) -> float:
        """Return for how long all places may yet be held by the same calls."""
        patience = self._last_taken + PATIENCE_SECONDS - self._clock()
        if patience <= 0:
            raise self._refusal("places", f"all {self._places} calls that may wait for {self._node} do wait")
        return patience

    def _give_up(self) -> None:
        """Turn away who waits, and have a thread look; where none can be started, the next call tries again."""
        while self._turns:
            self._turns.popleft().put(False)
        if self._probing:
            return
        _GIVEN_UP.labels(self._node).set(1)
        _log.warning("a store's node is given up until it answers", extra={"node": self._node})
        try:
            threading.Thread(target=self._look, name=f"probe {self._node}", daemon=True).start()
        except RuntimeError:
            _log.exception("no thread can be started to ask whether the node is back", extra={"node": self._node})
        else:
            self._probing = True

    def _look(self) -> None:
        """Ask until the node answers."""
        never = threading.Event()
        while not self._answers():
            never.wait(PROBE_SECONDS)
        with self._changing:
            self._breaker.answered()
            self._probing = False
        _GIVEN_UP.labels(self._node).set(0)
        _log.warning("a store's node answers again", extra={"node": self._node})

    def _answers(self) -> bool:
        try:
            self._probe()
        except Exception:  # noqa: BLE001 - whatever it is, it is no answer
            return False
        return True

    def _given_up(self) -> StoreAwayError:
        return self._refusal("given up", f"{self._node} has not answered lately; a probe asks it every half second")

    def _refusal(self, reason: str, sentence: str) -> StoreAwayError:
        _REFUSED.labels(self._node, reason).inc()
        return StoreAwayError(sentence)
