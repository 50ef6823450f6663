"""Kill -9, end and pause services and stores under load; then counts must equal rows, and timelines the truth."""

import random
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.processes import all_ready, kill, pause, resume, terminate
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import remaining

PEOPLE = 24
WRITERS = 6
FAULTS = 30
BETWEEN_WRITES_S = 0.02
BETWEEN = (0.5, 2.5)  # seconds from one fault to the next
TARGETS = (*PROCESSES, "kafka", "dynamodb", "redis", "registry")
SETTLED = 120.0


class Load:
    """People who follow, unfollow, tweet and delete, and who repeat what was not answered until it is."""

    def __init__(self, writers: int = WRITERS) -> None:
        self._writers = writers
        self.people = [Person(f"Person {n}").join() for n in range(PEOPLE)]
        self.tweets: dict[str, set[str]] = {person.user_id: set() for person in self.people}
        self.writes = 0
        self.unanswered: set[str] = set()
        self._over = threading.Event()

    def run(self, threads: ThreadPoolExecutor) -> list[Any]:
        """Begin; each writer has people of its own, so that the order of a person's writes is known."""
        return [threads.submit(self._write, self.people[n :: self._writers]) for n in range(self._writers)]

    def stop(self) -> None:
        """Let each writer finish what it is doing."""
        self._over.set()

    def _write(self, mine: list[Person]) -> None:
        while not self._over.wait(BETWEEN_WRITES_S):
            self.write(mine)
            self.writes += 1

    def write(self, mine: list[Person]) -> None:
        """Do something as one of these people."""
        me, other = random.choice(mine), random.choice(self.people)
        path = f"/v1/users/{other.user_id}/follow"
        match random.randrange(6):
            case 0 | 1 if me is not other:
                me.insist("POST", path)
            case 2 if me is not other:
                me.insist("DELETE", path)
            case 3 if self.tweets[me.user_id]:
                gone = random.choice(sorted(self.tweets[me.user_id]))
                me.insist("DELETE", f"/v1/tweets/{gone}")
                self.tweets[me.user_id].remove(gone)
            case 4:
                me.insist("GET", "/v1/timeline")
            case _:
                self.tweet(me)

    def tweet(self, me: Person, address: str = "") -> None:
        """Say something, once only: whether a tweet that was not answered is there, its row will tell."""
        text = f"drill {uuid.uuid4().hex}"
        try:
            self.tweets[me.user_id].add(me.ask("POST", f"{address}/v1/tweets", json={"text": text})["tweet_id"])
        except urllib3.exceptions.HTTPError:
            self.unanswered.add(text)
        except RefusedError as error:
            if error.status < 500:
                raise
            self.unanswered.add(text)


def kills() -> dict[str, Any]:
    """Break something every second or two while people go on, let the dust settle, and compare."""
    load, done = Load(), dict.fromkeys(("kill -9", "SIGTERM", "SIGSTOP 3 s"), 0)
    with ThreadPoolExecutor(WRITERS) as threads:
        writers = load.run(threads)
        for number in range(FAULTS):
            time.sleep(random.uniform(*BETWEEN))
            target, fault = random.choice(TARGETS), random.choice(list(done))
            print(f"    {number + 1}/{FAULTS} {fault} {target}", flush=True)
            done[fault] += _break(fault, target)
        load.stop()
        for writer in writers:
            writer.result()
    print("    settling", flush=True)
    all_ready(within=SETTLED)
    found = remaining(lambda: differences(load), within=SETTLED, every=2)
    return {
        "name": f"{FAULTS} random faults under load",
        "faults": ", ".join(f"{count} x {fault}" for fault, count in done.items()) + f" among {', '.join(TARGETS)}",
        "compared": "each person's counts with the rows, and their whole timeline with what those they follow said",
        "differences": found,
        "counts": f"{load.writes} requests of {PEOPLE} people, {len(load.unanswered)} tweets not answered, "
        f"{sum(map(len, load.tweets.values()))} tweets left",
    }


def _break(fault: str, target: str) -> bool:
    """Do it; False if the target was down already."""
    if fault == "kill -9":
        return kill(target)
    if fault == "SIGTERM":
        return terminate(target)
    done = pause(target)
    time.sleep(3)
    resume(target)
    return done


def differences(load: Load) -> list[str]:
    """Say of each person what is not as the rows say."""
    follows = {person.user_id: person.edges("following") for person in load.people}
    said = {person.user_id: person.said() for person in load.people}
    found = []
    for person in load.people:
        me = person.user_id
        if lost := load.tweets[me] - said[me].keys():
            found.append(f"{me}: answered tweets without a row: {sorted(lost)}")
        if twice := [text for text, times in Counter(said[me].values()).items() if times > 1]:
            found.append(f"{me}: said once, and there twice: {twice}")
        if strange := {said[me][tweet_id] for tweet_id in said[me].keys() - load.tweets[me]} - load.unanswered:
            found.append(f"{me}: rows that were deleted, or that nobody asked for: {sorted(strange)}")
        followers = sum(me in following for following in follows.values())
        if (counts := person.counts()) != (followers, len(follows[me])):
            found.append(f"{me}: counts {counts}, rows {(followers, len(follows[me]))}")
        truth = {tweet_id for author in follows[me] | {me} for tweet_id in said[author]}
        shown = person.whole_timeline()
        if shown != sorted(truth, reverse=True):
            missing, extra = sorted(truth - set(shown)), sorted(set(shown) - truth)
            found.append(f"{me}: timeline misses {len(missing)} {missing[:3]}, has {len(extra)} too many {extra[:3]}")
    return found


DRILLS = [kills]
