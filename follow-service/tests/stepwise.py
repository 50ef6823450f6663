"""Calls that take turns: each stops before it asks the store anything, and goes on when the test says so."""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any


class Call:
    """One call on a store, in a thread that moves one question at a time."""

    def __init__(self, store: Any, do: Callable[[Any], object], allowed: type[Exception] | tuple[type[Exception], ...]):
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.done = False
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(store, do, allowed), daemon=True)
        self._thread.start()
        self._stopped.acquire()

    def step(self) -> None:
        """Let it ask its next question, and return when it is about to ask another or is done."""
        self._go.release()
        self._stopped.acquire()
        if self.error:
            raise self.error

    def _run(self, store: Any, do: Callable[[Any], object], allowed: Any) -> None:
        try:
            with suppress(allowed):
                do(_Stops(store, self._stop))
        except BaseException as error:  # noqa: BLE001 - the test is to see it
            self.error = error
        self.done = True
        self._stopped.release()

    def _stop(self) -> None:
        self._stopped.release()
        self._go.acquire()


class _Stops:
    """A store that lets nobody ask without being told."""

    def __init__(self, store: Any, stop: Callable[[], None]) -> None:
        self._store, self._stop = store, stop

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._store, name)

        def stopped(*arguments: Any) -> Any:
            self._stop()
            return ask(*arguments)

        return stopped


def interleave(calls: list[Call], order: Iterable[int]) -> None:
    """Run the calls to their end, each number choosing among those that are not done who moves next."""
    choices = iter(order)
    while waiting := [call for call in calls if not call.done]:
        waiting[next(choices, 0) % len(waiting)].step()
