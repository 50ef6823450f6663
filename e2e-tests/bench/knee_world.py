"""Authors with two hundred followers each, in the tables, and every timeline warm."""

import asyncio
import itertools
import os
import random
import time
import uuid
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import boto3

from contracts.ids import first_id
from contracts.tables import FOLLOWERS, TWEETS, USERS
from murmuration_testkit.knee.open_loop import Connections
from murmuration_testkit.people import Person, gateway
from murmuration_testkit.rows import put_all
from murmuration_testkit.waiting import eventually

from .follows import PREFIX, edge, profile
from .workers import headers

PEOPLE = int(os.environ.get("PEOPLE", "1000"))
AUTHORS = PEOPLE // 50
FANS = 200
SAID = 20  # by each author, in the hour that is past
TRUSTED_S = 12.0  # after its first page, a Redis that is new is trusted: what was built before is built again
READERS_AT_ONCE = 8
WITHIN_S = 600.0
PAGE = "/v1/timeline?limit=20"
MARK = uuid.uuid4().hex[:8]


class World:
    """Some people, of whom some are followed and tweet."""

    def __init__(self) -> None:
        self.people = [f"p{n}-{MARK}" for n in range(PEOPLE)]
        self.authors = self.people[:AUTHORS]
        self.fans = {author: random.sample(self.people[AUTHORS:], FANS) for author in self.authors}
        self._stars = itertools.count()

    def make(self) -> None:
        """Write all rows, wait until they are counted, and have everybody read their timeline."""
        began = time.monotonic()
        asyncio.run(_read([self.people[0]]))
        dynamodb = boto3.client("dynamodb")
        put_all(dynamodb, PREFIX + USERS.name, map(_joined, self.people))
        put_all(dynamodb, PREFIX + FOLLOWERS.name, self._follows())
        put_all(dynamodb, PREFIX + TWEETS.name, self._tweets())
        print(f"    {PEOPLE} people, {AUTHORS} authors of {FANS}: {time.monotonic() - began:.0f} s", flush=True)
        authors = [Person(user_id=author) for author in self.authors]
        eventually(lambda: [it.user_id for it in authors if it.counts()[0] != FANS], [], within=WITHIN_S, every=1.0)
        time.sleep(max(0.0, began + TRUSTED_S - time.monotonic()))
        asyncio.run(_read(self.people))
        print(f"    counted and read by everybody: {time.monotonic() - began:.0f} s", flush=True)

    def stars(self, count: int) -> list[str]:
        """Return so many more people, whom nobody follows."""
        stars = [f"s{next(self._stars)}-{MARK}" for _ in range(count)]
        put_all(boto3.client("dynamodb"), PREFIX + USERS.name, map(_joined, stars))
        return stars

    def _follows(self) -> Iterator[dict[str, Any]]:
        """Give the edges, no two of one author behind each other: DynamoDB Local is slow with one key."""
        now = time.time_ns() // 1_000_000
        return (edge((fans[turn], author), now) for turn in range(FANS) for author, fans in self.fans.items())

    def _tweets(self) -> Iterator[dict[str, Any]]:
        began = time.time_ns() // 1_000_000 - 3_600_000
        for number, author in enumerate(self.authors * SAID):
            at = began + number
            yield {
                TWEETS.tweet_id: {"S": first_id(at)},
                TWEETS.author_id: {"S": author},
                TWEETS.text: {"S": f"what {author} said before, of about the length that people write"},
                TWEETS.created_at: {"N": str(at)},
            }


def _joined(person: str) -> dict[str, Any]:
    """Return the row of somebody who joins now: lags are measured from the row's own time."""
    return {**profile(person), USERS.created_at: {"N": str(time.time_ns() // 1_000_000)}}


def connections(most: int | None = None) -> Connections:
    """Return connections to the gateway."""
    place = urlsplit(gateway())
    return Connections(str(place.hostname), int(place.port or 80), *([most] if most else []))


@cache
def reading(path: str, person: str) -> bytes:
    """Return somebody's GET as it goes over the wire."""
    return writing("GET", path, person)


def writing(method: str, path: str, person: str, body: str = "") -> bytes:
    """Return somebody's request as it goes over the wire."""
    said = "".join(f"{name}: {value}\r\n" for name, value in headers(person).items())
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{said}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def _read(people: list[str]) -> None:
    """Have each read their timeline once, also those who are told to come again."""
    gate = connections(READERS_AT_ONCE)
    until = asyncio.get_running_loop().time() + WITHIN_S

    async def read(person: str) -> None:
        while (status := (await gate.ask(reading(PAGE, person), until)).status) != HTTPStatus.OK:
            if not status:
                raise TimeoutError(f"{person} has no timeline after {WITHIN_S} s")
            await asyncio.sleep(1.0)

    await asyncio.gather(*map(read, people))
    gate.close()
