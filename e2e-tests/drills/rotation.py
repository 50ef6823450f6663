"""The issuer's keys change under load, while the issuer hangs and is away; no valid token may be refused meanwhile."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import urllib3

from murmuration_testkit.issuer_door import KEYS, issuer_door
from murmuration_testkit.ports import free_ports
from murmuration_testkit.probes import get
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

CALLERS = 4
HUNG_S = AWAY_S = 15.0  # longer than the fetcher pauses between two fetches
FETCHED_S = 30.0
ACCEPTED = HTTPStatus.NOT_FOUND  # whom they ask for does not exist
APP = "follow_service.app:create_app()"
COMMAND = [sys.executable, "-m", "gunicorn", "-c", "python:murmuration_edge.gunicorn", APP]


class Load:
    """Callers who ask without a pause, half of them with a token that was never seen before."""

    def __init__(self, port: int) -> None:
        self.issuers: list[Issuer] = []  # whose tokens are valid now
        self.answers: Counter[int] = Counter()
        self.refused: list[str] = []
        self.phase = ""
        self._url = f"http://127.0.0.1:{port}/v1/users/nobody"
        self._over = threading.Event()

    def ask(self, headers: dict[str, str]) -> int:
        """Return the status of an answer; 0 if there is none."""
        try:
            return urllib3.request("GET", self._url, headers=headers, timeout=10, retries=False).status
        except urllib3.exceptions.HTTPError:
            return 0

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Ask in threads until the context ends."""
        with ThreadPoolExecutor(CALLERS) as threads:
            callers = [threads.submit(self._call, f"caller-{number}") for number in range(CALLERS)]
            try:
                yield
            finally:
                self._over.set()
            for caller in callers:
                caller.result()

    def _call(self, name: str) -> None:
        while not self._over.wait(0.01):
            for issuer in self.issuers:
                for headers in (issuer.bearer(name), issuer.bearer(name, exp=4_000_000_000)):
                    status = self.ask(headers)
                    self.answers[status] += 1
                    if status != ACCEPTED:
                        self.refused.append(f"{self.phase}: a valid token of {name} was answered with {status}")


def rotation() -> dict[str, Any]:
    """Publish a second key, sign with it, lose the issuer twice, withdraw the first key."""
    old, new = Issuer(headers={"kid": "old"}), Issuer(headers={"kid": "new"})
    port, admin_port, door_port = free_ports(3)
    with served(port, admin_port, door_port):
        load = Load(port)
        known = partial(_known, load, new, lambda: get(f"http://127.0.0.1:{admin_port}/metrics")[1])
        with ExitStack() as going_on:
            with issuer_door(door_port) as door:
                door.publish(old.published())
                eventually(lambda: load.ask(old.bearer("first")), ACCEPTED, within=60)
                load.issuers = [old]
                going_on.enter_context(load.going_on())
                load.phase = "both keys are published"
                door.publish(old.published(), new.published())
                known(2)
                load.phase, load.issuers = "both keys sign, and the issuer hangs", [old, new]
                door.hang()
                _while_unknown_ids_come(load, new, HUNG_S)
                load.phase = "both keys sign, and the issuer is away"
            _while_unknown_ids_come(load, new, AWAY_S)
            with issuer_door(door_port) as door:
                load.phase, load.issuers = "the new key signs", [new]
                time.sleep(1)  # what was sent with the old one is answered
                door.publish(new.published())
                known(1)
                if load.ask(old.bearer("late")) != HTTPStatus.UNAUTHORIZED:
                    load.refused.append("a token of the withdrawn key was accepted")
                time.sleep(3)  # under load once more
    return {
        "name": "the issuer's keys change under load",
        "faults": f"a key added, one withdrawn; the issuer hung for {HUNG_S:g} s and gone for {AWAY_S:g} s between",
        "compared": "the answer to each valid token with the one that it must have",
        "differences": load.refused,
        "counts": f"{sum(load.answers.values())} requests of {CALLERS} callers, a half with new tokens: "
        + ", ".join(f"{count} x {status}" for status, count in sorted(load.answers.items())),
    }


def _known(load: Load, issuer: Issuer, metrics: Callable[[], str], keys: int) -> None:
    """Have the service look, as a token of an unknown key does, until it has so many keys."""

    def look() -> bool:
        assert load.ask(issuer.saying(kid="unknown").bearer("mallory")) == HTTPStatus.UNAUTHORIZED
        return f"signing_keys {keys}.0" in metrics()

    eventually(look, within=FETCHED_S, every=0.5)


def _while_unknown_ids_come(load: Load, forger: Issuer, seconds: float) -> None:
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if (status := load.ask(forger.saying(kid=f"forged-{time.monotonic()}").bearer("mallory"))) != 401:
            load.refused.append(f"{load.phase}: a forged token was answered with {status}")
        time.sleep(0.2)


@contextmanager
def served(port: int, admin_port: int, door_port: int) -> Iterator[None]:
    """Run a follow-service whose issuer is at this door."""
    own = {
        "PORT": str(port),
        "ADMIN_PORT": str(admin_port),
        "HOST": "127.0.0.1",
        "JWT_JWKS_URL": f"http://127.0.0.1:{door_port}{KEYS}",
        "JWT_ISSUER": "issuer",
        "JWT_AUDIENCE": "audience",
    }
    with subprocess.Popen(
        COMMAND, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
        finally:
            process.terminate()


DRILLS = [rotation]
