"""Calls that go on beside the work, each in a thread of its own."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from murmuration_runtime.errors import StoreAwayError

EVERY_SECONDS = 3.0
_log = logging.getLogger(__name__)


def keep_calling(name: str, call: Callable[[], object], every: float = EVERY_SECONDS) -> None:
    """Call now and every few seconds, as long as the process lives; a call that fails is followed by the next."""

    def run() -> NoReturn:
        never = threading.Event()
        while True:
            call_once(name, call)
            never.wait(every)

    threading.Thread(target=run, name=name, daemon=True).start()


@contextmanager
def repeated(name: str, call: Callable[[], object], every: float) -> Iterator[None]:
    """Call every few seconds while the context lasts; a call that fails is followed by the next."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(every):
            call_once(name, call)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def call_once(name: str, call: Callable[[], object]) -> None:
    """Call, and log what went wrong."""
    try:
        call()
    except StoreAwayError as error:
        _log.warning("not refreshed; it is tried again", extra={"what": name, "reason": str(error)})
    except Exception:  # noqa: BLE001 - whatever it is, the next call may be better
        _log.exception("not refreshed for an unforeseen reason; it is tried again", extra={"what": name})
