"""People who follow, tweet, delete and page at once, and the ledger of all that was acknowledged to them."""

import random
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from murmuration_testkit.people import Person

PEOPLE = 16
WRITERS = 4
READERS = 3
PAUSE_S = 0.02
TWEETS = "/v1/tweets"


class Company:
    """Sixteen people, two of them stars whom everybody follows; each writer has people of its own.

    Each request is repeated until it is answered, a tweet under one idempotency key: so what was asked for is true.
    Timelines are read from any of the readers, which are addresses; the gateway's is "".
    """

    def __init__(self, readers: Sequence[str] = ("",)) -> None:
        self._readers = readers
        self.people = [Person(f"Person {number}").join() for number in range(PEOPLE)]
        self.stars = self.people[:2]
        self.follows: dict[str, set[str]] = {person.user_id: set() for person in self.people}
        self.tweets: dict[str, set[str]] = {person.user_id: set() for person in self.people}
        self.done: Counter[str] = Counter()
        self.disorder: list[str] = []
        for star in self.stars:
            for person in self.people:
                if person is not star:
                    self.follow(person, star)
        self._over = threading.Event()
        self._threads = ThreadPoolExecutor(WRITERS + READERS)
        self._jobs: list[Future[None]] = []

    def __enter__(self) -> Self:
        """Go on for as long as the context lasts."""
        self._jobs = [self._threads.submit(self._write, self.people[n::WRITERS]) for n in range(WRITERS)]
        self._jobs += [self._threads.submit(self._read) for _ in range(READERS)]
        return self

    def __exit__(self, *_: object) -> None:
        """Let each finish what it is doing; fail if one failed."""
        self._over.set()
        for job in self._jobs:
            job.result()
        self._threads.shutdown()

    @property
    def slowest(self) -> float:
        """Return how long one of their requests took at most."""
        return max(person.slowest for person in self.people)

    def follow(self, me: Person, other: Person) -> None:
        """Follow somebody, until that is answered."""
        me.insist("POST", f"/v1/users/{other.user_id}/follow")
        self.follows[me.user_id].add(other.user_id)
        self.done["follows"] += 1

    def unfollow(self, me: Person, other: Person) -> None:
        """Cease to."""
        me.insist("DELETE", f"/v1/users/{other.user_id}/follow")
        self.follows[me.user_id].discard(other.user_id)
        self.done["unfollows"] += 1

    def tweet(self, me: Person) -> None:
        """Say something once."""
        key = {"Idempotency-Key": uuid.uuid4().hex}
        said = me.insist("POST", TWEETS, json={"text": f"drill {key}"}, headers=key)
        self.tweets[me.user_id].add(said["tweet_id"])
        self.done["tweets"] += 1

    def differences(self, reader: str = "") -> list[str]:
        """Page everybody's timeline from the top to the end, and name whose is not the truth."""
        found = []
        for person in self.people:
            me = person.user_id
            truth = {tweet_id for author in self.follows[me] | {me} for tweet_id in self.tweets[author]}
            shown = [tweet_id for page in self._pages(person, 200, reader) for tweet_id in page]
            if shown != sorted(truth, reverse=True):
                missing, extra = sorted(truth - set(shown)), sorted(set(shown) - truth)
                found.append(f"{me}: misses {len(missing)} {missing[:3]}, has {len(extra)} too many {extra[:3]}")
        return found

    def _write(self, mine: list[Person]) -> None:
        crowd = [person for person in mine for _ in range(4 if person in self.stars else 1)]
        while not self._over.wait(PAUSE_S):
            me, other = random.choice(crowd), random.choice(self.people)
            match random.randrange(8):
                case 0 if me is not other:
                    self.unfollow(me, other)
                case 1 | 2 if me is not other:
                    self.follow(me, other)
                case 3 if self.tweets[me.user_id]:
                    gone = random.choice(sorted(self.tweets[me.user_id]))
                    me.insist("DELETE", f"{TWEETS}/{gone}")
                    self.tweets[me.user_id].remove(gone)
                    self.done["deletes"] += 1
                case _:
                    self.tweet(me)

    def _read(self) -> None:
        """Page somebody's timeline while all this goes on: whatever is shown, no page repeats or goes back."""
        while not self._over.wait(PAUSE_S):
            person, last = random.choice(self.people), "9" * 19
            limit, reader = random.choice([1, 5, 20, 50, 200]), random.choice(self._readers)
            for page in self._pages(person, limit, reader):
                if [last, *page] != sorted({last, *page}, reverse=True):
                    self.disorder.append(f"{person.user_id}: after {last} came {page}")
                last = page[-1] if page else last
                self.done["pages"] += 1
                if self._over.is_set():
                    break

    def _pages(self, person: Person, limit: int, reader: str) -> Iterator[list[str]]:
        cursor = ""
        while cursor is not None:
            page = person.insist("GET", f"{reader}/v1/timeline?limit={limit}{cursor and '&cursor=' + cursor}")
            yield [tweet["tweet_id"] for tweet in page["tweets"]]
            cursor = page["next_cursor"]
