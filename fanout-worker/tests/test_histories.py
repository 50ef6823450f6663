"""Any history, with anything in the middle of anything: after the dust settles, every warm timeline shows the truth.

At each call to a store something else may happen to its end: a row is written, an event of another partition is
delivered or delivered again, a reader rebuilds, the index catches up, an author is demoted, a process dies.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts import TOPICS
from contracts.ids import BITS_BELOW_MS, EPOCH_MS
from fanout_worker.demotion import StillCelebrityError, demote
from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.shown import Shown

from .conftest import follow, mute, tweet
from .memory import Memory

PEOPLE = ["ann", "bob", "cat"]
HISTORIES = 1_000
STEPS = 40
THRESHOLD = 2
DEEPEST = 3
FIRST = 1_700_000_000_000_000_000


class World:
    """The tables, the topics, Redis and one reader, with everything that may happen."""

    def __init__(self, chance):
        self._chance = chance
        self._depth = self._next = 0
        self.memory = Memory()
        self.memory.people = {*PEOPLE}
        self.memory.meanwhile = self._meanwhile
        self.said = {person: [] for person in PEOPLE}
        self.topic, self.waiting, self._rebuilds = [], [], {}
        self.deliveries = self.memory.deliveries(
            THRESHOLD,
            0,
            may_be_celebrity=lambda _: chance.random() < 0.7,  # the list of them lags as it likes
            now=lambda: (FIRST >> BITS_BELOW_MS) + EPOCH_MS,
        )

    def step(self):
        """Let one thing happen."""
        everyday = [self._tweet, self._toggle, self._mute, self._rebuild, self._deliver, self._deliver]
        self._chance.choice([*everyday, *everyday, self._again, self._index, self._demote, self._evict])()

    def settle(self):
        """Let the dust settle: everything is delivered, and the index has caught up."""
        self._depth = DEEPEST
        while self.waiting:
            self._deliver()
        self._index()

    def shown(self, person):
        """Return what a reader of a warm timeline shows of those followed: its list and celebrities' own tweets."""
        followees = self.memory.followees(person)
        author = {tweet_id: who for who, ids in self.said.items() for tweet_id in ids}
        merged = {t for who in followees if self.memory.authors[who].since for t in self.said[who]}
        return followees, {t for t in self.memory.ids(person) if t != "0" and author[t] in followees} | merged

    def truth(self, person):
        """Return whom they follow and have not muted now, themselves included, and all that these ever said."""
        followees = {person, *(who for fan, who in self.memory.edges - self.memory.mutes if fan == person)}
        return followees, {tweet_id for who in followees for tweet_id in self.said[who]}

    def _meanwhile(self, _):
        while self._depth < DEEPEST and self._chance.randrange(3) == 0:
            self._depth += 1
            self.step()
            self._depth -= 1

    def _person(self):
        return self._chance.choice(PEOPLE)

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

    def _mute(self):
        muter, who = self._person(), self._person()
        if muter != who:
            self.memory.mutes ^= {(muter, who)}
            self._publish(mute(muter, who, muting=(muter, who) in self.memory.mutes))

    def _publish(self, event):
        self.topic.append(event)
        self.waiting.append(event)

    def _deliver(self):
        """Deliver one of those that wait, or some of its key: keys have no order among each other."""
        if self.waiting:
            first = self._chance.choice(self.waiting)
            batch = [event for event in self.waiting if _key(event) == _key(first)][: self._chance.randint(1, 3)]
            for event in batch:
                self.waiting.remove(event)
            self.deliveries.deliver(batch)

    def _again(self):
        if self.topic:
            event = self._chance.choice(self.topic)
            if event not in self.waiting:
                self.deliveries.deliver([event])

    def _rebuild(self):
        """Begin to rebuild a cold timeline; or commit what was read; or look at the follows again if one changed."""
        person = self._person()
        home, (token, built, read) = self.memory.reader.home, self._rebuilds.pop(person, (None, None, None))
        if token is None:
            token, read = home.begin(person), frozenset()
        elif home.commit(person, token, built) or not home.renew(person, token, look_again=True):
            return
        if token:
            followees, _ = self.truth(person)
            indexed = {t for who in followees - read for t in self.memory.said[who]}
            recent = {t for who in followees for t in self.memory.recent(who)}
            ids = sorted({*(built.ids if built else ()), *indexed, *recent}, reverse=True)
            self._rebuilds[person] = token, Timeline(ids, BEGINNING, Shown.of(followees)), read | followees

    def _evict(self):
        self.memory.nodes.forget(layout.home_timeline(self._person()))

    def _index(self):
        """Only now the index has what was said."""
        for who, ids in self.said.items():
            self.memory.said[who] = ids[::-1]

    def _demote(self):
        """Demote somebody; the process may die on the way."""
        stars = [person for person in PEOPLE if self.memory.authors[person].since]
        author, left = self._chance.choice(stars or PEOPLE), self._chance.randrange(6)

        def refresh(followers):
            nonlocal left
            for follower in followers:
                left -= 1
                if left == 0:
                    raise StoreAwayError("killed")
                self.deliveries.refresh_followee(author, [follower])

        threshold = self._chance.choice([THRESHOLD, len(PEOPLE)])
        try:
            demote(author, self.memory, self.memory.followers, refresh, threshold=threshold, until="1")
        except (StillCelebrityError, StoreAwayError):
            return


def _key(event):
    return type(event), TOPICS[type(event).__name__].key(event)


def test_after_the_dust_settles_every_warm_timeline_shows_the_truth():
    """No hole, nobody left is shown, whoever was promoted or demoted in between."""
    happened = Counter()

    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.randoms(use_true_random=False))
    def holds(chance):
        world = World(chance)
        for _ in range(STEPS):
            world.step()
        world.settle()
        for who in PEOPLE:
            if world.memory.followees(who):
                ids = world.memory.ids(who)
                assert ids == [*sorted({*ids} - {"0"}, reverse=True), "0"]
                assert world.shown(who) == world.truth(who)
                happened["compared"] += 1
        happened.update({call[0] for call in world.memory.asked})
        happened["celebrities"] += any(author.since for author in world.memory.authors.values())

    holds()
    kinds = ("compared", "celebrities", "promote", "end_demotion", "agree")
    assert min(happened[kind] for kind in kinds) > HISTORIES / 10, happened
