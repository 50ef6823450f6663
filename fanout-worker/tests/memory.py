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
from murmuration_timelines.writer import TimelineWriter


class Memory:
    """All that deliveries stand on, with the order of what was asked: its name, and of whom."""

    def __init__(self, faults=()):
        self.edges = set()
        self.said = defaultdict(list)
        self.authors = defaultdict(Author)
        self.asked = []
        self.meanwhile = lambda _: None
        self.faults = iter(())
        self.nodes = FakeNodes()
        self.nodes.before = lambda name, keys: self._ask(name, *(key[key.index("{") + 1 : -1] for key in keys))
        self.timelines, self.reader = TimelineWriter(self.nodes), TimelineReader(self.nodes)
        self.faults = iter(faults)

    def deliveries(self, threshold=9, ahead=20, **more):
        return Deliveries(self.timelines, self, self, self, threshold, ahead, **more)

    # the timelines, past all interruptions
    def warm(self, user, *ids, followees=()):
        """Give somebody a timeline that is complete."""
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
        """Return whom somebody's warm timeline shows."""
        found = self.quietly(lambda: self.reader.home.load([user]))
        return {*found[user].followees} if found else set()

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

    def followers(self, followee_id):
        self._ask("followers", followee_id)
        everyone = sorted(follower for follower, followee in self.edges if followee == followee_id)
        return iter([everyone[start : start + 2] for start in range(0, len(everyone), 2)])

    def follows(self, follower_id, followee_id):
        self._ask("follows", follower_id)
        return (follower_id, followee_id) in self.edges

    def latest(self, author_id, count):
        self._ask("latest", author_id)
        return self.said[author_id][:count]

    def _commit(self, timelines, user, ids, followees):
        built = Timeline(sorted(ids, reverse=True), BEGINNING, frozenset(followees))
        assert timelines.commit(user, timelines.begin(user), built)

    def _ask(self, *call):
        self.asked.append(call)
        self.meanwhile(call[0])
        if next(self.faults, False):
            raise StoreAwayError("no route")
