"""One step of the load: reads, tweets and follows when they are due, and how long until others see each write."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus

from murmuration_testkit.knee.open_loop import Act, Answer, play

from .knee_world import PAGE, World, connections, reading, writing

READS_A_WRITE = 100
TIMELINES = 0.8  # of the reads; the others are of an author's profile
PATIENCE_S = 10.0  # who is not answered by then has failed; what is not seen by then took so long
POLL_S = 0.05
TEXT = "what somebody says in a benchmark, of about the length that people write"


class Load:
    """What is asked in one step, and what became of it."""

    def __init__(self, world: World, reads_a_second: float, seconds: float) -> None:
        self.reads: list[float] = []
        self.writes: list[float] = []
        self.tweets: list[float] = []
        self.follows: list[float] = []
        self.late: list[float] = []
        self.failures: Counter[str] = Counter()
        self._world = world
        self._plan: list[tuple[float, Act]] = [(due, self._read) for due in arrivals(reads_a_second, seconds)]
        turns = [*arrivals(reads_a_second / READS_A_WRITE, seconds)]
        self._plan += [(due, self._tweet) for due in turns[::2]]
        stars = world.stars(len(turns[1::2]))
        self._plan += [(due, partial(self._follow, star)) for due, star in zip(turns[1::2], stars, strict=True)]
        self._plan.sort(key=lambda each: each[0])

    async def run(self, ended: Callable[[], object]) -> None:
        """Do all of it; tell when the last has begun, and return when everything is answered and seen."""

        async def last(_due: float) -> None:
            ended()

        self._gate = connections()
        self.late = await play([*self._plan, (self._plan[-1][0], last)])
        self._gate.close()

    async def _read(self, due: float) -> None:
        world, person = self._world, random.choice(self._world.people)
        path = PAGE if random.random() < TIMELINES else f"/v1/users/{random.choice(world.authors)}"
        await self._ask(reading(path, person), due, self.reads)

    async def _tweet(self, due: float) -> None:
        author = random.choice(self._world.authors)
        post = writing("POST", "/v1/tweets", author, json.dumps({"text": TEXT}))
        answer = await self._ask(post, due, self.writes)
        if answer.status != HTTPStatus.CREATED:
            self.tweets.append(PATIENCE_S)
        else:
            tweet_id = str(json.loads(answer.body)["tweet_id"]).encode()
            page = reading(PAGE, random.choice(self._world.fans[author]))
            self.tweets.append(await self._seen(page, lambda body: tweet_id in body, due))

    async def _follow(self, star: str, due: float) -> None:
        post = writing("POST", f"/v1/users/{star}/follow", random.choice(self._world.people))
        answer = await self._ask(post, due, self.writes)
        if answer.status != HTTPStatus.NO_CONTENT:
            self.follows.append(PATIENCE_S)
        else:
            own = reading("/v1/users/me", star)
            self.follows.append(await self._seen(own, lambda body: json.loads(body)["followers_count"] == 1, due))

    async def _ask(self, request: bytes, due: float, took: list[float]) -> Answer:
        answer = await self._gate.ask(request, due + PATIENCE_S)
        took.append(asyncio.get_running_loop().time() - due)
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            self.failures[f"{request.split(b' ', 1)[0].decode()} {answer.status or 'not answered'}"] += 1
        return answer

    async def _seen(self, request: bytes, shows: Callable[[bytes], bool], due: float) -> float:
        """Ask again and again until it shows; return after how long that was."""
        loop = asyncio.get_running_loop()
        while loop.time() < due + PATIENCE_S:
            answer = await self._gate.ask(request, due + PATIENCE_S)
            if answer.status == HTTPStatus.OK and shows(answer.body):
                break
            await asyncio.sleep(POLL_S)
        return loop.time() - due


def arrivals(a_second: float, seconds: float) -> Iterator[float]:
    """Give the moments at which people come who know nothing of each other: so many a second in the mean."""
    at = random.expovariate(a_second)
    while at < seconds:
        yield at
        at += random.expovariate(a_second)
