"""Any history, with anything in the middle of anything: after the dust settles, every warm timeline shows the truth.

At each call to a store something else may happen to its end: a row is written, an event of another partition is
delivered or delivered again, a reader rebuilds, the index catches up, an author is demoted, a process dies.
"""

import random
from collections import Counter
from dataclasses import replace

from contracts.ids import BITS_BELOW_MS, EPOCH_MS
from fanout_worker.deliveries import Deliveries, StoreAwayError
from fanout_worker.demotion import StillCelebrityError, demote

from .conftest import follow, tweet
from .memory import Memory

PEOPLE = ["ann", "bob", "cat", "dan"]
HISTORIES = 2_000
STEPS = 80
THRESHOLD = 2
DEEPEST = 3
FIRST = 1_700_000_000_000_000_000


class World:
    """The tables, the topics, Redis and one reader, with everything that may happen."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._depth = self._next = 0
        self.memory = Memory()
        self.memory.meanwhile = self._meanwhile
        self.said = {person: [] for person in PEOPLE}
        self.topic, self.waiting, self._built = [], [], {}
        self.deliveries = Deliveries(
            self.memory,
            self.memory,
            THRESHOLD,
            0,
            self._may_be_celebrity,
            now=lambda: (FIRST >> BITS_BELOW_MS) + EPOCH_MS,
            sleep=lambda _: None,
        )

    def step(self):
        """Let one thing happen."""
        everyday = [self._tweet, self._toggle, self._rebuild, self._deliver, self._deliver]
        self._random.choice([*everyday, *everyday, self._again, self._index, self._demote, self._evict])()

    def settle(self):
        """Let the dust settle: everything is delivered, and the index has caught up."""
        self._depth = DEEPEST
        while self.waiting:
            self._deliver()
        self._index()

    def shown(self, person):
        """Return what a reader of a warm timeline shows of those followed: its list and celebrities' own tweets."""
        memory = self.memory
        following = memory.following[person]
        author = {tweet_id: who for who, ids in self.said.items() for tweet_id in ids}
        merged = {t for who in following if memory.authors[who].since for t in self.said[who]}
        return following, {t for t in memory.lists[person] if t != "0" and author[t] in following} | merged

    def truth(self, person):
        """Return whom they follow now, themselves included, and all that these ever said."""
        following = {person, *(who for fan, who in self.memory.edges if fan == person)}
        return following, {tweet_id for who in following for tweet_id in self.said[who]}

    def _meanwhile(self, _):
        if self._depth < DEEPEST and self._random.randrange(8) == 0:
            self._depth += 1
            self.step()
            self._depth -= 1

    def _may_be_celebrity(self, _):
        """The list of them lags as it likes."""
        return self._random.random() < 0.7

    def _person(self):
        return self._random.choice(PEOPLE)

    def _tweet(self):
        author, self._next = self._person(), self._next + 1
        self.said[author].append(str(FIRST + self._next))
        self._publish(tweet(str(FIRST + self._next), author))

    def _toggle(self):
        fan, who = self._person(), self._person()
        if fan != who:
            self.memory.edges ^= {(fan, who)}
            self._publish(follow(1, fan, who, following=(fan, who) in self.memory.edges))
            count = sum(followee == who for _, followee in self.memory.edges)
            self.memory.authors[who] = replace(self.memory.authors[who], followers_count=count)

    def _publish(self, event):
        self.topic.append(event)
        self.waiting.append(event)

    def _deliver(self):
        """Deliver one of those that wait: partitions have no order among each other."""
        if self.waiting:
            place = self._random.randrange(len(self.waiting))
            self.deliveries.deliver([self.waiting.pop(place)])

    def _again(self):
        if self.topic:
            event = self._random.choice(self.topic)
            if event not in self.waiting:
                self.deliveries.deliver([event])

    def _rebuild(self):
        """Begin to rebuild a cold timeline, look again at the follows if one changed, or commit what was read."""
        person = self._person()
        ids = self.memory.lists[person]
        if not ids:
            following, _ = self.truth(person)
            known = {t for who in following for t in (*self.memory.said[who], *self.memory.recents[who])}
            self._built[person] = following, known, following
            self.memory.lists[person] = ["!mark"]
        elif ids[-1].startswith("!mark~"):
            following, _ = self.truth(person)
            _, known, read = self._built[person]
            known |= {t for who in following - read for t in self.memory.said[who]}
            known |= {t for who in following for t in self.memory.recents[who]}
            self._built[person] = following, known, read | following
            self.memory.lists[person] = [*ids[:-1], "!mark"]
        elif ids[-1] == "!mark":
            following, known, _ = self._built[person]
            self.memory.lists[person] = [*sorted(known | set(ids[:-1]), reverse=True), "0"]
            self.memory.following[person] = following

    def _evict(self):
        self.memory.lists[self._person()] = []

    def _index(self):
        """Only now the index has what was said."""
        for who, ids in self.said.items():
            self.memory.said[who] = ids[::-1]

    def _demote(self):
        stars = [person for person in PEOPLE if self.memory.authors[person].since]
        author = self._random.choice(stars or PEOPLE)
        dies = self._random.randrange(6)

        def settle(followers):
            nonlocal dies
            for follower in followers:
                dies -= 1
                if dies == 0:
                    raise StoreAwayError("killed")
                self.deliveries.settle(follower, author)

        try:
            demote(author, self.memory, settle, self._random.choice([THRESHOLD, len(PEOPLE)]), "1")
        except (StillCelebrityError, StoreAwayError):
            return


def test_after_the_dust_settles_every_warm_timeline_shows_the_truth():
    """No hole, nobody left is shown, whoever was promoted or demoted in between."""
    happened = Counter()
    for seed in range(HISTORIES):
        world = World(seed)
        for _ in range(STEPS):
            world.step()
        world.settle()
        for person in PEOPLE:
            ids = world.memory.lists[person]
            if ids and not ids[-1].startswith("!"):
                assert ids == [*sorted(set(ids) - {"0"}, reverse=True), "0"], (seed, person)
                assert world.shown(person) == world.truth(person), (seed, person)
                happened["compared"] += 1
        happened.update({call[0] for call in world.memory.asked})
        happened["celebrities"] += any(author.since for author in world.memory.authors.values())
    assert min(happened[what] for what in ("compared", "celebrities", "promote", "end", "agree")) > HISTORIES / 4, (
        happened
    )
