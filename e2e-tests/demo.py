"""A small world, and one story in it, told through HTTP with the time that each step took."""

import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from murmuration_testkit.people import Person, gateway
from murmuration_testkit.waiting import eventually

NAMES = (
    "Alice Amir Anja Ben Bea Carlos Chidi Dana Deniz Elif Emil Fatima Finn Greta Hana Hugo Ines Ivo Jana Jonas "
    "Kaito Kira Lena Luca Maya Mina Nils Noor Olga Pablo Petra Quinn Rosa Sami Tariq Uma Vera Wim Yara Zoe"
)
STAR = "Nova"
SAYINGS = (
    "Coffee first. Then everything else.",
    "Does anyone else hear starlings at dusk?",
    "Shipped it on a Friday. Nothing burned.",
    "The trick is to write less code.",
    "Fog over the harbour this morning 🌫️",
    "Reading about idempotence. Reading about idempotence.",
    "Whoever invented the bicycle deserves a statue.",
    "Today I learned that a murmuration has no leader.",
)


def seed(people: list[Person], star: Person) -> None:
    """Fill the world; on a second run only what is missing."""
    chance = random.Random(1)
    everyone = [*people, star]
    circles = {person: chance.sample([p for p in people if p is not person], chance.randint(3, 9)) for person in people}
    follows = [(fan, star) for fan in people[1:]] + [(me, other) for me in people for other in circles[me]]
    sayings = {person: chance.sample(SAYINGS, chance.randint(1, 3)) for person in everyone}
    step(f"{len(everyone)} people", lambda: each(Person.join, everyone))
    step(f"{len(follows)} follows, {len(people) - 1} of them of {star.user_id}", lambda: each(follow, follows))
    step("what they have to say", lambda: each(lambda person: say(person, sayings[person]), everyone))


def follow(pair: tuple[Person, Person]) -> None:
    """Let the first follow the second, as a client does: a 503 on a machine that is busy is no end."""
    pair[0].insist("POST", f"/v1/users/{pair[1].user_id}/follow")


def say(person: Person, texts: Iterable[str]) -> None:
    """Let somebody say these things, unless they have said something already."""
    if not person.said():
        for text in texts:
            person.tweet(text)


def each(do: Callable[[Any], object], things: Iterable[Any]) -> None:
    """Do it for all, eight at a time."""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(do, things))


def tell(alice: Person, nova: Person) -> None:
    """Follow, tweet, unfollow: what each does, and when everybody can see it."""
    alice.unfollow(nova)
    fans = len(nova.edges("followers"))
    eventually(lambda: nova.counts()[0], fans)
    alice.timeline()
    step(f"{alice.user_id} follows {nova.user_id}", lambda: alice.follow(nova))
    step(f"  followers of {nova.user_id}: {fans} → {fans + 1}", lambda: eventually(lambda: nova.counts()[0], fans + 1))
    step("  what was said before is in the timeline", lambda: eventually(lambda: nova.name in authors(alice), True))
    text = f"Hello, {alice.name}! It is {time.strftime('%H:%M:%S')}."
    step(f"{nova.user_id} tweets “{text}”", lambda: nova.tweet(text))
    step(f"  it is at the top of {alice.user_id}'s timeline", lambda: eventually(lambda: alice.timeline(1), [text]))
    step(f"{alice.user_id} unfollows {nova.user_id}", lambda: alice.unfollow(nova))
    step(f"  nothing of {nova.user_id} is left in it", lambda: eventually(lambda: nova.name in authors(alice), False))
    step(f"  followers of {nova.user_id}: {fans + 1} → {fans}", lambda: eventually(lambda: nova.counts()[0], fans))


def authors(reader: Person) -> set[str]:
    """Return the names of those who appear in a timeline."""
    page = reader.ask("GET", "/v1/timeline?limit=200")
    return {tweet["author_id"].capitalize() for tweet in page["tweets"]}


def step(text: str, do: Callable[[], object]) -> None:
    """Say what happens, do it, and say how long it took."""
    print(f"  {text:<66}", end="", flush=True)
    began = time.perf_counter()
    do()
    print(f"{(time.perf_counter() - began) * 1000:8,.0f} ms", flush=True)


def main() -> None:
    """Seed, tell, and say where to go on."""
    people = [Person(name, name.lower()) for name in NAMES.split()]
    star = Person(STAR, STAR.lower())
    print("\nA small world")
    seed(people, star)
    print("\nA story: an answer is one row written; what is indented follows from that row, through Kafka")
    tell(people[0], star)
    print(f"""
It is still running (`make status`, `make logs`, `make down`), behind {gateway()}. Say something yourself:

  curl -X POST {gateway()}/v1/tweets -H "Authorization: Bearer $(make -s token USER=alice)" \\
       -H 'Content-Type: application/json' -d '{{"text": "Hello, world"}}'
  curl {gateway()}/v1/timeline -H "Authorization: Bearer $(make -s token USER=alice)"
""")


if __name__ == "__main__":
    main()
