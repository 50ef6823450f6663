"""People who follow, unfollow, tweet and delete, what they were told, and the truth to compare with afterwards.

A request is asked by a function that the crowd is given: it says how stubborn a client is. What was not answered in the
end may have happened or not; its row will tell.
"""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import urllib3

from murmuration_testkit.people import Person, RefusedError

Ask = Callable[..., Any]  # person, method, path, and what else the request has


class Crowd:
    """So many people. One thread at a time may act for a person, so that the order of a person's writes is known."""

    def __init__(self, size: int, ask: Ask = Person.ask) -> None:
        self.people = [Person(f"Person {n}").join() for n in range(size)]
        self.tweets: dict[str, set[str]] = {person.user_id: set() for person in self.people}
        self.unanswered: set[str] = set()
        self.following: dict[str, dict[str, bool | None]] = defaultdict(dict)  # None: its row will tell
        self._ask = ask

    def follow(self, me: Person) -> None:
        """Follow somebody, or anew."""
        self._turn(me, "POST", following=True)

    def unfollow(self, me: Person) -> None:
        """Unfollow somebody, followed or not."""
        self._turn(me, "DELETE", following=False)

    def read(self, me: Person) -> None:
        """Read a page of the home timeline."""
        self._ask(me, "GET", "/v1/timeline")

    def delete(self, me: Person) -> None:
        """Take something back."""
        if self.tweets[me.user_id]:
            gone = random.choice(sorted(self.tweets[me.user_id]))
            self.tweets[me.user_id].remove(gone)
            self.unanswered.add(gone)
            self._ask(me, "DELETE", f"/v1/tweets/{gone}")
            self.unanswered.discard(gone)

    def tweet(self, me: Person) -> None:
        """Say something new."""
        text = uuid.uuid4().hex
        self.unanswered.add(text)
        answer = self._ask(me, "POST", "/v1/tweets", json={"text": text}, headers={"Idempotency-Key": text})
        self.tweets[me.user_id].add(answer["tweet_id"])
        self.unanswered.discard(text)

    def differences(self) -> list[str]:
        """Compare what was answered with the rows, and counts and whole timelines with what the rows say."""
        follows = {person.user_id: person.edges("following") for person in self.people}
        said = {person.user_id: person.said() for person in self.people}
        found = []
        for person in self.people:
            me = person.user_id
            for other, following in self.following[me].items():
                if following is not None and following is not (other in follows[me]):
                    found.append(f"{me}: was told that it {'follows' if following else 'does not follow'} {other}")
            if lost := self.tweets[me] - said[me].keys():
                found.append(f"{me}: answered tweets without a row: {sorted(lost)}")
            if twice := [text for text, times in Counter(said[me].values()).items() if times > 1]:
                found.append(f"{me}: said once, and there twice: {twice}")
            strange = {said[me][each] for each in said[me].keys() - self.tweets[me] - self.unanswered} - self.unanswered
            if strange:
                found.append(f"{me}: rows that were deleted, or that nobody asked for: {sorted(strange)}")
            followers = sum(me in following for following in follows.values())
            if (counts := person.counts()) != (followers, len(follows[me])):
                found.append(f"{me}: counts {counts}, rows {(followers, len(follows[me]))}")
            truth = {tweet_id for author in follows[me] | {me} for tweet_id in said[author]}
            shown = person.whole_timeline()
            if shown != sorted(truth, reverse=True):
                missing, extra = sorted(truth - set(shown)), sorted(set(shown) - truth)
                lacks = f"misses {len(missing)} {missing[:3]}, has {len(extra)} too many {extra[:3]}"
                found.append(f"{me}: timeline {lacks}, of {len(truth)}")
        return found

    def _turn(self, me: Person, method: str, *, following: bool) -> None:
        other = random.choice([person for person in self.people if person is not me])
        mine = self.following[me.user_id]
        mine[other.user_id] = None
        self._ask(me, method, f"/v1/users/{other.user_id}/follow")
        mine[other.user_id] = following


NOT_ANSWERED = (urllib3.exceptions.HTTPError, RefusedError)
