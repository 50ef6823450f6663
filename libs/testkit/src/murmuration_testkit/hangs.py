"""A store of the stack that hangs while people ask the edges, and what comes of it.

Rule: people ask the edges themselves and not the gateway, since that is the issuer and hangs too. Readers follow only
authors who say nothing more, so that their pages need nothing but Redis or nothing but DynamoDB. Writers ask for
somebody who blocks them, and for an id that nobody has: no pair of answers may tell which is which.
"""

import itertools
import os
import random
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import inf
from statistics import median, quantiles
from typing import NamedTuple

import urllib3

from murmuration_runtime.dynamo_gate import TRIES
from murmuration_testkit import tokens
from murmuration_testkit.people import Person
from murmuration_testkit.processes import page, pause, resume
from murmuration_testkit.services import PROCESSES, SERVICES
from murmuration_testkit.waiting import eventually

EDGES = [service.name for service in SERVICES.values() if service.is_edge]
PAGE, PROFILE, TWEET, FOLLOW, STRANGER = "page", "profile", "tweet", "follow", "stranger"
BLOCKER, NOBODY = "blocker", "nobody"
SERVICE = {
    PAGE: "timeline-service",
    PROFILE: "follow-service",
    TWEET: "tweet-service",
    FOLLOW: "follow-service",
    STRANGER: "timeline-service",
    BLOCKER: "follow-service",
    NOBODY: "follow-service",
}
GOOD = {PAGE: 200, PROFILE: 200, TWEET: 201, FOLLOW: 204, STRANGER: 401, BLOCKER: 404, NOBODY: 404}
BY_TABLES = (PROFILE, TWEET, FOLLOW, BLOCKER, NOBODY)  # acts that may need DynamoDB
REQUEST_S, SLACK_S = 2.0, 1.0  # slack for a busy machine
PROBED_S = 0.1
NOTICED_S = 1.5  # after which nobody waits for a store that hangs, once TRIES calls of a service waited in vain
QUICK_S = 0.45  # the patience with Redis is half a second
RECOVERED_S = 5.0
_http = urllib3.PoolManager(maxsize=32, timeout=20, retries=False)


class Answer(NamedTuple):
    """What was asked, when, for how long, and what came."""

    act: str
    at: float
    seconds: float
    status: int
    is_problem: bool

    @property
    def is_good(self) -> bool:
        """Tell whether it is what the act brings when all is well."""
        return self.status == GOOD[self.act]


class People:
    """Readers and writers who ask, one after the other in each of some threads, from start to stop.

    In the first second each service must have as many calls without an answer as it takes to give a store up.
    """

    def __init__(self, threads: int = 16, pause_s: float = 0.1) -> None:
        self.answers: list[Answer] = []
        self._authors = [Person("Author").join() for _ in range(3)]
        self._readers = [Person("Reader").join() for _ in range(6)]
        self._writers = [Person("Writer").join() for _ in range(12)]
        for author, reader in itertools.product(self._authors, self._readers):
            reader.follow(author)
        self._blocker = Person("Blocker").join()
        for writer in self._writers:
            self._blocker.ask("PUT", f"/v1/users/{writer.user_id}/block")
        said = {author.tweet("said before") for author in self._authors}
        for reader in self._readers:
            eventually(partial(_shows, reader, said), True)
        self._stranger = tokens.of_stack().saying(kid="nobody's").bearer("stranger", lifetime_s=tokens.DAY_S)
        self._count, self._pause_s = threads, pause_s
        self._over = threading.Event()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let them ask meanwhile."""
        with ThreadPoolExecutor(self._count) as threads:
            running = [threads.submit(self._go_on, number) for number in range(self._count)]
            try:
                yield
            finally:
                self._over.set()
            for each in running:
                each.result()

    def _go_on(self, number: int) -> None:
        acts = itertools.cycle([PAGE, TWEET, PAGE, PROFILE, FOLLOW, PAGE, STRANGER, BLOCKER, NOBODY])
        for act in itertools.islice(acts, number, None):
            if self._over.wait(self._pause_s):
                break
            self.answers.append(self._ask(act))

    def _ask(self, act: str) -> Answer:
        me, other = random.sample(self._writers, 2)
        reader = random.choice(self._readers)
        method, path, headers, json = {
            PAGE: ("GET", "/v1/timeline", reader.headers, None),
            STRANGER: ("GET", "/v1/timeline", self._stranger, None),
            PROFILE: ("GET", f"/v1/users/{other.user_id}", me.headers, None),
            BLOCKER: ("GET", f"/v1/users/{self._blocker.user_id}", me.headers, None),
            NOBODY: ("GET", f"/v1/users/{uuid.uuid4().hex}", me.headers, None),
            FOLLOW: ("POST", f"/v1/users/{other.user_id}/follow", me.headers, None),
            TWEET: ("POST", "/v1/tweets", me.headers, {"text": "something"}),
        }[act]
        began = time.monotonic()
        headers = {
            **headers,
            "Connection": "close",
        }  # an edge ends what lies idle for two seconds: a client must not race it
        answer = _http.request(method, _address(SERVICE[act]) + path, headers=headers, json=json)
        kind = answer.headers.get("Content-Type", "")
        retry = answer.headers.get("Retry-After", "")
        is_problem = kind == "application/problem+json" and (answer.status != 503 or retry.isdecimal())  # noqa: PLR2004
        return Answer(act, began, time.monotonic() - began, answer.status, is_problem)


class Probes:
    """What each edge says of itself meanwhile, and when its process began."""

    def __init__(self) -> None:
        self.took: list[float] = []
        self.faults: list[str] = []
        self._began = {edge: _began(edge) for edge in EDGES}

    def look(self) -> None:
        """Ask each edge for each page once."""
        for edge, path in itertools.product(EDGES, ("/healthz", "/readyz", "/metrics")):
            began = time.monotonic()
            status, _ = page(edge, path)
            self.took.append(time.monotonic() - began)
            if status != 200 and path != "/readyz":  # noqa: PLR2004 - a start that waits is not ready
                self.faults.append(f"{edge}{path}: {status}")

    def differences(self) -> list[str]:
        """Say what is not as promised."""
        found = [f"{edge} was started again" for edge in EDGES if _began(edge) != self._began[edge]]
        slow = quantiles(self.took, n=10)[8]  # a busy machine pauses now and then; what hangs, hangs each time
        if slow > PROBED_S:
            found.append(f"the 90th percentile of /healthz, /readyz and /metrics was {slow:.3f} s")
        return [*found, *sorted({*self.faults})]


class Outcome(NamedTuple):
    """What came of a hang: what is not as promised, and figures."""

    differences: list[str]
    figures: str


def hang(store: str, may_fail: Sequence[str], seconds: float) -> Outcome:
    """Let a store hang for so long while people ask. Only these acts may be refused meanwhile."""
    people, probes = People(), Probes()
    with people.busy():
        eventually(lambda: {each.act for each in people.answers if each.is_good} == {*GOOD}, True)
        began = time.monotonic()
        pause(store)
        try:
            while time.monotonic() - began < seconds:
                probes.look()
                time.sleep(PROBED_S)
        finally:
            resume(store)
        ended = time.monotonic()
        eventually(lambda: time.monotonic() - ended > RECOVERED_S + REQUEST_S, True)
    return _judged(store, people.answers, probes, may_fail, (began, ended))


def _judged(
    store: str, answers: Sequence[Answer], probes: Probes, may_fail: Sequence[str], hung: tuple[float, float]
) -> Outcome:
    began, ended = hung
    found = probes.differences()
    meanwhile = [each for each in answers if began - REQUEST_S < each.at < ended]
    for each in answers:
        if each.seconds > REQUEST_S + SLACK_S:
            found.append(f"{each.act} took {each.seconds:.1f} s, {each.at - began:.1f} s after {store} began to hang")
        if not each.is_good and (each.status != 503 or not each.is_problem):  # noqa: PLR2004
            found.append(f"{each.act} was answered with {each.status}, which is no 503 problem")
    refused = [each for each in answers if not each.is_good]
    found += [f"{each.act} was refused though it needs no {store}" for each in refused if each.act not in may_fail]
    late = max((each.at - ended for each in refused), default=0.0)
    if late > RECOVERED_S:
        found.append(f"refused {late:.1f} s after {store} went on")
    by_act: dict[str, list[Answer]] = defaultdict(list)
    for each in meanwhile:
        by_act[each.act].append(each)
    for act, some in by_act.items():
        asked = [each for each in meanwhile if SERVICE[each.act] == SERVICE[act] and each.at + each.seconds > began]
        noticed = max(began + NOTICED_S, _given_up(asked))
        later = [each.seconds for each in some if each.at > noticed]
        if later and median(later) > QUICK_S:
            found.append(f"{act} still waited for {store}: a median of {median(later):.2f} s")
    told = [
        {each.status for each in by_act[act] if each.at > began + NOTICED_S and each.at + each.seconds < ended}
        for act in (BLOCKER, NOBODY)
    ]
    if all(told) and told[0] != told[1]:
        found.append(f"who blocks was answered with {told[0]}, an id that nobody has with {told[1]}")
    figures = [
        f"{act} {sum(each.is_good for each in some)}/{len(some)} good, median {median(e.seconds for e in some):.3f} s, "
        f"slowest {max(e.seconds for e in some):.2f} s"
        for act, some in sorted(by_act.items())
    ]
    figures.append(f"{len(probes.took)} probes, slowest {max(probes.took):.3f} s")
    figures.append(f"last refusal {late:.1f} s after it went on" if refused else "nothing refused")
    return Outcome(found, "; ".join(figures))


def _given_up(answers: Iterable[Answer]) -> float:
    """Return when so many calls of a service had waited in vain that it asks the store no more; inf if never."""
    in_vain = sorted(each.at + each.seconds for each in answers if each.seconds > QUICK_S)
    return in_vain[TRIES - 1] if len(in_vain) >= TRIES else inf


def _shows(reader: Person, tweet_ids: set[str]) -> bool:
    return tweet_ids <= {*reader.whole_timeline()}


def _address(edge: str) -> str:
    return f"http://127.0.0.1:{os.environ[PROCESSES[edge].port_variable('PORT')]}"


def _began(edge: str) -> str:
    """Return when the process began that answers."""
    told = page(edge, "/metrics")[1]
    return next(line for line in told.splitlines() if line.startswith("process_start_time_seconds "))
