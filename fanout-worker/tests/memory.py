"""The tables in memory, and timelines on a Redis in memory; each call to either can be interrupted, or fail."""

from collections import defaultdict
from dataclasses import replace

from fanout_worker.deliveries import Deliveries
from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines import layout
from murmuration_timelines.celebrities import Author
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import TimelineWriter


class Memory:
    """All that deliveries stand on, with the order of what was asked: its name, and of whom."""

    def __init__(self, faults=()):
        self.edges, self.mutes = set(), set()
        self.said = defaultdict(list)
        self.authors = defaultdict(Author)
        self.asked = []
        self.meanwhile = lambda _: None
        self.faults = iter(())
        self.nodes = FakeNodes()
        self.nodes.before = lambda name, keys: self._ask(name, *(key[key.index("{") + 1 : -1] for key in keys))
        self.people = set()  # whose names are looked for in timelines
        self.timelines, self.reader = TimelineWriter(self.nodes), TimelineReader(self.nodes)
        self.faults = iter(faults)

    def deliveries(self, threshold=9, ahead=20, **more):
        return Deliveries(self.timelines, self, self, self, self, threshold, ahead, **more)

    # the timelines, past all interruptions
    def warm(self, user, *ids, followees=()):
        """Give somebody a timeline that is complete."""
        self.people |= {user, *followees}
        self.quietly(lambda: self._commit(self.reader.home, user, ids, {user, *followees}))

    def warm_author(self, user):
        """Give somebody an author's timeline that is complete, and empty."""
        self.quietly(lambda: self._commit(self.reader.authors, user, (), {user}))

    def ids(self, user):
        """Return the list of a home timeline as it is, with its last element."""
        return self.nodes.values.get(layout.home_timeline(user), [])

    def author_ids(self, user):
        """Return the list of an author's timeline as it is, with its last element."""
        return self.nodes.values.get(layout.author_timeline(user), [])

    def followees(self, user):
        """Return whose tweets somebody's warm timeline shows, of all whom anybody here has named."""
        found = self.quietly(lambda: self.reader.home.load([user]))
        return {who for who in self.people if who in found[user].shown} if found else set()

    def noted(self, user):
        return self.nodes.values.get(layout.noted(user), set())

    def recent(self, user):
        return self.nodes.values.get(layout.recent(user), set())

    def is_buried(self, tweet_id):
        return self.nodes.values.get(layout.body(tweet_id)) == ""

    def quietly(self, work):
        """Do something that nothing interrupts."""
        before, self.nodes.before = self.nodes.before, lambda *_: None
        try:
            return work()
        finally:
            self.nodes.before = before

    # the tables
    def author(self, user_id):
        self._ask("author", user_id)
        return self.authors[user_id]

    def promote(self, user_id, since):
        self._ask("promote", user_id)
        if self.authors[user_id].since:
            return False
        self.authors[user_id] = replace(self.authors[user_id], since=since)
        return True

    def begin_demotion(self, user_id, until, threshold):
        self._ask("begin_demotion", user_id)
        author = self.authors[user_id]
        if not author.since or author.followers_count >= threshold:
            return False
        self.authors[user_id] = replace(author, until=author.until or until)
        return True

    def end_demotion(self, user_id, since, until):
        self._ask("end_demotion", user_id)
        author = self.authors[user_id]
        if (author.since, author.until) != (since, until):
            return False
        self.authors[user_id] = Author(author.followers_count)
        return True

    def followers(self, followee_id, after=None):
        self._ask("followers", followee_id)
        wanted = sorted(fan for fan, followee in self.edges if followee == followee_id and fan > (after or ""))
        return iter([wanted[start : start + 2] for start in range(0, len(wanted), 2)])

    def followers_among(self, followee_id, user_ids):
        self.people |= {followee_id, *user_ids}
        self._ask("followers_among", *user_ids)
        return {user_id for user_id in user_ids if (user_id, followee_id) in self.edges}

    def muters_among(self, muted_id, user_ids):
        self._ask("muters_among", *user_ids)
        return {user_id for user_id in user_ids if (user_id, muted_id) in self.mutes}

    def latest(self, author_id, count):
        self._ask("latest", author_id)
        return self.said[author_id][:count]

    def followed_by(self, user_id):
        self._ask("followed_by", user_id)
        return frozenset(followee for fan, followee in self.edges if fan == user_id)

    def muted(self, user_id):
        self._ask("muted", user_id)
        return frozenset(muted for muter, muted in self.mutes if muter == user_id)

    def between(self, author_id, floor, top):
        self._ask("between", author_id)
        return [each for each in sorted(self.said[author_id], reverse=True) if floor <= each <= top]

    def author_of(self, tweet_id):
        self._ask("author_of", tweet_id)
        return next((author for author, said in self.said.items() if tweet_id in said), None)

    def celebrities(self):
        self._ask("celebrities")
        return {user for user, author in self.authors.items() if author.since}

    def _commit(self, timelines, user, ids, followees):
        built = Timeline(sorted(ids, reverse=True), BEGINNING, Shown.of(followees))
        assert timelines.commit(user, timelines.begin(user), built)

    def _ask(self, *call):
        self.asked.append(call)
        self.meanwhile(call[0])
        if next(self.faults, False):
            raise StoreAwayError("no route")
