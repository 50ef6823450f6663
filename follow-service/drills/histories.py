"""People who do to each other all that the graph knows, several at once, and note what they were answered."""

import random
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import urllib3

from murmuration_testkit.people import Person, RefusedError, send

from .explained import Act

PATHS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "follow": ("POST", "/v1/users/{}/follow", {}),
    "unfollow": ("DELETE", "/v1/users/{}/follow", {}),
    "remove": ("DELETE", "/v1/users/me/followers/{}", {}),
    "accept": ("POST", "/v1/users/me/follow-requests/{}", {}),
    "decline": ("DELETE", "/v1/users/me/follow-requests/{}", {}),
    "block": ("PUT", "/v1/users/{}/block", {}),
    "unblock": ("DELETE", "/v1/users/{}/block", {}),
    "mute": ("PUT", "/v1/users/{}/mute", {}),
    "unmute": ("DELETE", "/v1/users/{}/mute", {}),
    "turn private": ("PUT", "/v1/users/me", {"is_private": True}),
    "turn public": ("PUT", "/v1/users/me", {"is_private": False}),
    "leave": ("DELETE", "/v1/users/me", {}),
}
OFTEN = {"follow": 12, "unfollow": 3, "accept": 4, "mute": 2, "unmute": 2, "unblock": 2, "tweet": 4}  # others: once
ASKED, REFUSED, FAILED = 202, 400, 500
FEWEST = 3  # people of a writer of whom none leaves
PAUSE_S = 0.02


class Histories:
    """So many people and writers; each writer has people of its own, so one of them does one thing after the other."""

    def __init__(self, people: int, writers: int) -> None:
        self.people = {person.user_id: person for person in (Person(f"Person {n}").join() for n in range(people))}
        self.gone: set[str] = set()
        self.acts: list[Act] = []
        self.answered_tweets: dict[str, set[str]] = {user_id: set() for user_id in self.people}
        self._over = threading.Event()
        self._writers = [[*self.people.values()][n::writers] for n in range(writers)]
        verbs = [*PATHS, "tweet"]
        self._draw: Callable[[], str] = lambda: random.choices(verbs, [OFTEN.get(verb, 1) for verb in verbs])[0]

    def writers(self) -> list[Callable[[], None]]:
        """Return what each writer does until stop() is called."""
        return [lambda mine=mine: self._write(mine) for mine in self._writers]  # type: ignore[misc]

    def stop(self) -> None:
        """Let each writer finish what it is doing."""
        self._over.set()

    def _write(self, mine: list[Person]) -> None:
        while not self._over.wait(PAUSE_S):
            verb, me = self._draw(), random.choice(mine)
            if verb == "tweet":
                self._tweet(me)
            elif verb != "leave":
                self._act(me, verb)
            elif len(mine) > FEWEST:
                self.gone.add(me.user_id)
                mine.remove(me)
                self._act(me, verb)

    def _act(self, me: Person, verb: str) -> None:
        """Do something to anybody, and repeat it until it is answered."""
        method, path, change = PATHS[verb]
        others = [each for each in self.people if each != me.user_id]
        whom = random.choice(others) if "{}" in path else me.user_id
        more = {"json": {"display_name": me.name, **change}} if change else {}
        began, unanswered = time.monotonic(), None
        while True:
            sent = time.monotonic()
            answer = _answer(me, method, path.format(whom), **more)
            if answer is not None:
                self.acts.append(Act(me.user_id, verb, whom, began, sent, time.monotonic(), answer, unanswered))
                return
            unanswered = sent
            self._over.wait(0.1)

    def _tweet(self, me: Person) -> None:
        """Say something, once: whether it is there its row will tell."""
        try:
            text = uuid.uuid4().hex
            answer = me.ask("POST", "/v1/tweets", json={"text": text}, headers={"Idempotency-Key": text})
            self.answered_tweets[me.user_id].add(answer["tweet_id"])
        except (urllib3.exceptions.HTTPError, RefusedError) as error:
            if isinstance(error, RefusedError) and error.status < FAILED:
                raise


def _answer(me: Person, method: str, path: str, **more: Any) -> str | None:
    """Return what somebody is answered, as the model has it; None if nobody answers."""
    try:
        answered = send(method, path, headers=me.headers, **more)
    except urllib3.exceptions.HTTPError:
        return None
    if answered.status >= FAILED:
        return None
    if answered.status >= REFUSED:
        return str(answered.json()["code"])
    return "asked" if answered.status == ASKED else "done"
