"""A fan-out worker is killed again and again while somebody polls: nothing new slips past them, however late it comes.

KILLS in the environment says how often; 6 unless set.
"""

import os
import random
import signal
import threading
import time
import uuid
from typing import Any

from murmuration_testkit.people import Person
from murmuration_testkit.processes import all_ready
from murmuration_testkit.waiting import eventually

from .fanouts import two

KILLS = int(os.environ.get("KILLS", "6"))
AUTHORS = 4
EVERY_S = 0.2  # from one tweet to the next
BETWEEN_S = (15, 35)  # from one kill to the next: a worker may still be taking over
SETTLING_S = 60  # what timeline-service counts on (since_mark.py)
READY_S = 180.0
CAME_S = 120.0


class Poller:
    """Somebody who asks for what is new every half second, and notes when each tweet came."""

    def __init__(self, me: Person) -> None:
        self.came: dict[str, float] = {}
        self.repeated: list[str] = []
        self._me = me
        self._over = threading.Event()
        self._mark = me.insist("GET", "/v1/timeline")["newest"]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.5):
            page = self._me.insist("GET", f"/v1/timeline?limit=200&since={self._mark}")
            self._mark = page["newest"]
            for tweet in page["tweets"]:
                if tweet["tweet_id"] in self.came:
                    self.repeated.append(tweet["tweet_id"])
                self.came.setdefault(tweet["tweet_id"], time.monotonic())


def takeover() -> dict[str, Any]:
    """Kill one of two workers now and then; what was said meanwhile comes once, and soon enough for a mark."""
    said: dict[str, float] = {}
    with two() as workers:
        all_ready(READY_S)
        authors, reader = [Person(f"author {n}").join() for n in range(AUTHORS)], Person("poller").join()
        for author in authors:
            reader.insist("POST", f"/v1/users/{author.user_id}/follow")
        poller = Poller(reader)
        for number in range(KILLS):
            until = time.monotonic() + random.uniform(*BETWEEN_S)
            print(f"    {number + 1}/{KILLS} SIGKILL", flush=True)
            workers[number % 2].signal(signal.SIGKILL)
            while time.monotonic() < until:
                key = {"Idempotency-Key": uuid.uuid4().hex}
                tweet = random.choice(authors).insist("POST", "/v1/tweets", json={"text": "drill"}, headers=key)
                said[tweet["tweet_id"]] = time.monotonic()
                threading.Event().wait(EVERY_S)
        differences = []
        try:
            eventually(lambda: said.keys() - poller.came.keys(), set(), within=CAME_S)
        except AssertionError:
            missed = sorted(said.keys() - poller.came.keys())
            differences.append(f"{len(missed)} never came: {missed[:3]}")
        poller.end()
    late = sorted(came - said[tweet_id] for tweet_id, came in poller.came.items() if tweet_id in said)
    differences += [f"{tweet_id} came twice" for tweet_id in poller.repeated]
    if late[-1] > SETTLING_S:
        differences.append(f"one came {late[-1]:.1f} s late: a mark counts on {SETTLING_S} s")
    return {
        "name": f"takeovers after {KILLS} kills of a fan-out worker",
        "faults": f"{KILLS} x SIGKILL of one of two workers, which starts again at once",
        "compared": "what a poller was shown with what was acknowledged; and how late it came",
        "differences": differences,
        "counts": f"{len(said)} tweets; half came within {late[len(late) // 2]:.2f} s, 95 % within "
        f"{late[len(late) * 95 // 100]:.1f} s, the last {late[-1]:.1f} s late",
    }


DRILLS = [takeover]
