"""The issuer's public keys, as they were last fetched, by a thread of their own.

Rule: no request waits for the issuer. What was fetched last serves for a day while the issuer is away. An id that is
not known is refused at once, and has the keys fetched soon: at most once in ten seconds, for however many ids.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

import jwt

from murmuration_edge.auth import KeysAwayError, UnknownKeyError
from murmuration_edge.bounded_pages import BadPageError
from murmuration_edge.metrics import FETCHES, KEYS, KEYS_AGE
from murmuration_runtime.readiness import Readiness

NAME = "signing keys"
SERVE_SECONDS = 24 * 3600.0
EVERY_SECONDS = 300.0
PAUSE_SECONDS = 10.0  # between two fetches, at least
START_SECONDS = 1.0  # the same, before there were any keys
_log = logging.getLogger(__name__)


class SigningKeys:
    """The last keys that were fetched. Safe among threads: a fetch puts a new mapping in the old one's place."""

    def __init__(
        self,
        fetch: Callable[[], Mapping[str, jwt.PyJWK]],
        readiness: Readiness,
        now: Callable[[], float] = time.monotonic,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self._fetch = fetch
        self._readiness = readiness
        self._now = now
        self._pause = pause
        self._fetched: tuple[Mapping[str, jwt.PyJWK], float] | None = None
        self._wanted = threading.Event()
        self._reason = "they were not fetched yet"
        readiness.lacks(NAME, self._reason)

    def key(self, kid: str | None) -> jwt.PyJWK:
        """Return the key of this id; raise UnknownKeyError, or KeysAwayError if nobody can know."""
        fetched = self._fetched
        if fetched is None or self._now() - fetched[1] > SERVE_SECONDS:
            raise KeysAwayError(f"the issuer's signing keys are not known: {self._reason}")
        key = fetched[0].get(kid) if kid else None
        if key is None:
            if not kid:
                raise UnknownKeyError("its header names no key by kid")
            self._wanted.set()
            raise UnknownKeyError("the issuer has no key of its kid")
        return key

    def refresh(self) -> float:
        """Fetch once; return how many seconds must pass before the next time."""
        self._wanted.clear()
        try:
            found = self._fetch()
        except Exception as error:  # noqa: BLE001 - whatever it is, old keys serve, and the next fetch may be better
            self._failed(error)
            return self._pause if self._fetched else START_SECONDS
        old = self._fetched[0] if self._fetched else {}
        keys = {kid: old[kid] if kid in old and old[kid].key == key.key else key for kid, key in found.items()}
        if keys.keys() != old.keys():
            _log.info("signing keys changed", extra={"kids": sorted(keys)})
        self._fetched = keys, self._now()
        self._reason = ""
        self._readiness.has(NAME)
        FETCHES.labels("good").inc()
        KEYS.set(len(keys))
        return self._pause

    @property
    def wanted(self) -> bool:
        """Tell whether somebody has asked for an id that was not known since the last fetch."""
        return self._wanted.is_set()

    def age(self) -> float:
        """Return the seconds since keys were last fetched; infinite if they never were."""
        fetched = self._fetched
        return self._now() - fetched[1] if fetched else float("inf")

    def keep_fresh(self) -> None:
        """Fetch every five minutes, or soon after a fetch failed or a key was missed, as long as the process lives."""
        KEYS_AGE.set_function(self.age)

        def run() -> NoReturn:
            never = threading.Event()
            while True:
                never.wait(self.refresh())
                if not self._reason:
                    self._wanted.wait(EVERY_SECONDS - self._pause)

        threading.Thread(target=run, name=NAME, daemon=True).start()

    def _failed(self, error: Exception) -> None:
        FETCHES.labels("failed").inc()
        self._reason = str(error)
        if not isinstance(error, BadPageError):
            _log.exception("signing keys: an unforeseen error", exc_info=error)
        if self._fetched:
            _log.warning("signing keys could not be fetched; the old ones serve", extra={"reason": self._reason})
        else:
            self._readiness.lacks(NAME, self._reason)
