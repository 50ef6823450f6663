"""Calls that take turns: each stops before it asks DynamoDB anything, and goes on or dies when the test says so."""

import threading
from collections.abc import Callable
from typing import Any


class KilledError(BaseException):
    """The process is gone, as by kill -9."""


class Call:
    """One call over a client of DynamoDB's, in a thread that moves one question at a time."""

    def __init__(self, dynamodb: Any, do: Callable[[Any], object]) -> None:
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._kill = False
        self.done = False
        self.answer: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(dynamodb, do), daemon=True)
        self._thread.start()
        self._stopped.acquire()

    def step(self, *, kill: bool = False) -> None:
        """Let it ask its next question, or die; return when it is about to ask another or is done."""
        self._kill = kill
        self._go.release()
        self._stopped.acquire()
        if self.done:
            self._thread.join()
        if self.error:
            raise self.error

    def finish(self) -> None:
        """Let it go on to its end."""
        while not self.done:
            self.step()

    def _run(self, dynamodb: Any, do: Callable[[Any], object]) -> None:
        try:
            self.answer = do(_Stops(dynamodb, self._stop))
        except KilledError:
            pass
        except BaseException as error:  # noqa: BLE001 - the test is to see it
            self.error = error
        self.done = True
        self._stopped.release()

    def _stop(self) -> None:
        self._stopped.release()
        self._go.acquire()
        if self._kill:
            raise KilledError


class _Stops:
    """A client that asks nothing without being told."""

    def __init__(self, dynamodb: Any, stop: Callable[[], None]) -> None:
        self._dynamodb, self._stop = dynamodb, stop
        self.exceptions = dynamodb.exceptions

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._dynamodb, name)

        def stopped(**asked: Any) -> Any:
            self._stop()
            return ask(**asked)

        return stopped
