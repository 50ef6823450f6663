"""A thousand clients at a byte a second, in their headers, their bodies and their reading; the others must not notice.

The others ask at a steady pace, first alone and then beside the slow ones, several times in turn: a machine has moods.
"""

import os
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from murmuration_testkit.people import Person

STACK = "kafka,dynamodb,redis,registry,gateway,follow-service,tweet-service,timeline-service"
SLOW = 1_000
TWEETS = 60
ASKERS = 6
PACE_S = 0.1  # between two requests of an asker
PHASE_S = 25.0
TURNS = 3
MOST_TIMES = 2.0
SETTLED_S = 3.0  # all of them are connected by then


class SlowClient:
    """One connection that sends a request a byte a second, or takes the answer so; made anew whenever it is cut."""

    def __init__(self, at_once: bytes, slowly: bytes) -> None:
        self._at_once, self._slowly = at_once, slowly
        self._connection: socket.socket | None = None
        self._sent = 0
        self.cut = 0

    def step(self) -> None:
        """Do what a second allows."""
        try:
            if self._connection is None:
                self._connect()
            elif self._sent < len(self._slowly):
                self._connection.send(self._slowly[self._sent : self._sent + 1])
                self._sent += 1
            elif self._connection.recv(1) == b"":
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self.cut += 1
            self.close()

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _connect(self) -> None:
        host, port = os.environ["GATEWAY_URL"].removeprefix("http://").split(":")
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(5)
        connection.connect((host, int(port)))
        connection.setblocking(False)
        self._connection, self._sent = connection, 0
        connection.send(self._at_once)


class Crowd:
    """All slow clients, each stepped once a second by one thread."""

    def __init__(self, clients: list[SlowClient]) -> None:
        self._clients = clients
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for client in self._clients:
            client.close()

    def _run(self) -> None:
        pause = 1 / len(self._clients)
        began, steps = time.monotonic(), 0
        while not self._over.is_set():
            self._clients[steps % len(self._clients)].step()
            steps += 1
            late = time.monotonic() - began - steps * pause
            if late < 0:
                self._over.wait(-late)


def slow_clients() -> dict[str, Any]:
    """Measure how long the others wait, without and with the slow ones."""
    author = Person("Author").join()
    for number in range(TWEETS):
        author.tweet(f"{number} " + "é" * 270)
    clients = [client for kind in _kinds(author) for client in kind]
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(TURNS):
        alone.append(_p99(author))
        with Crowd(clients):
            time.sleep(1 + SETTLED_S)
            beside.append(_p99(author))
    before, after = statistics.median(alone), statistics.median(beside)
    shown = f"p99 {before * 1000:.1f} ms without them, {after * 1000:.1f} ms with them, {after / before:.2f} times"
    return {
        "name": "slow clients do not slow others down",
        "faults": f"{SLOW} clients at a byte a second: a third each in headers, bodies, answers",
        "compared": f"p99 of {ASKERS / PACE_S:.0f} requests a second with {MOST_TIMES:g} times what it is alone",
        "differences": [shown] if after > MOST_TIMES * before else [],
        "counts": f"{shown}; {sum(client.cut for client in clients)} were cut off and came again; "
        f"each turn alone {_ms(alone)}, beside {_ms(beside)}",
    }


def _kinds(author: Person) -> list[list[SlowClient]]:
    """Return clients of each kind, a third of all."""
    authorization = f"Authorization: {author.headers['Authorization']}\r\n"
    page = f"GET /v1/users/{author.user_id}/tweets?limit={TWEETS} HTTP/1.1\r\nHost: localhost\r\n{authorization}\r\n"
    tweet = f"POST /v1/tweets HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Length: 60000\r\n\r\n"
    requests = [
        (b"GET /v1/timeline HTTP/1.1\r\n", b"X-Slow: " + b"a" * 4_000),
        (tweet.encode(), b"a" * 60_000),
        (page.encode(), b""),
    ]
    return [[SlowClient(*each) for _ in range(SLOW // len(requests) + 1)] for each in requests]


def _p99(author: Person) -> float:
    """Ask steadily for a while, and return the 99th percentile of how long it took."""
    until = time.monotonic() + PHASE_S

    def ask() -> list[float]:
        took = []
        while (began := time.monotonic()) < until:
            author.ask("GET", f"/v1/users/{author.user_id}")
            took.append(time.monotonic() - began)
            time.sleep(max(0.0, began + PACE_S - time.monotonic()))
        return took

    with ThreadPoolExecutor(ASKERS) as threads:
        each = [threads.submit(ask) for _ in range(ASKERS)]
    return statistics.quantiles([seconds for one in each for seconds in one.result()], n=100)[98]


def _ms(seconds: list[float]) -> str:
    return ", ".join(f"{each * 1000:.1f}" for each in seconds) + " ms"


DRILLS = [slow_clients]
