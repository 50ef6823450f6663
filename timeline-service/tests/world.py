"""The tables, their indexes, the topics and a fan-out between them, which may be late, out of order and repeated."""

from itertools import pairwise

from contracts.ids import first_id
from timeline_service.bodies import Bodies
from timeline_service.building import Building
from timeline_service.celebrities import HELD, Sayings
from timeline_service.places import Places
from timeline_service.reading import Reading
from timeline_service.seen import NOTHING, read_mark
from timeline_service.timeline import TOP, read_cursor, tweet

from .memory import MemoryArchive, MemoryCache

CAP = 6  # so that timelines are full, and authors are read in several steps
FEW = 2
WAVE = 1


class World:
    """What people do, what fan-out does about it when it comes to it, and what readers see."""

    def __init__(self, cap=CAP, least=1, places=9):
        self.now = 1_700_000_000.0
        self.cache, self.archive = MemoryCache(), MemoryArchive()
        self.sources = []
        self.topic = []  # every event there ever was
        self.pending = []  # those that fan-out has yet to handle
        self.since, self.until = {}, {}
        self._count = 0
        self._sessions = {}
        self.places = Places(places, 0)
        self.building = Building(self.cache, self.archive, self.places, cap, FEW)
        sayings = Sayings(self.famous, self.cache.authors, self.building, WAVE, lambda: self.now)
        bodies = Bodies(self.cache, self.archive, lambda: self.now)
        self.reading = Reading(
            self.cache, self.archive, self.building, sayings, bodies, self.sources.append, lambda: self.now, least
        )

    # what people do
    def say(self, author):
        said = tweet(self.next_id(), author, f"tweet {self._count}", int(self.now * 1000))
        self.archive.said[said.tweet_id] = said
        self.archive.index_lacks.add(said.tweet_id)
        self._tell(self.fan_out, said)
        return said

    def delete(self, n):
        if ids := sorted(self.archive.said):
            gone = ids[n % len(ids)]
            self.archive.deleted.add(gone)
            self._tell(self.bury, gone)

    def follow(self, follower, followee):
        """Follow, or unfollow whom one follows."""
        if follower != followee:
            if self.archive.index_follows is None:
                self.archive.index_follows = {*self.archive.follows}
            self.archive.follows ^= {(follower, followee)}
            self._tell(self.settle, follower, followee)

    def promote(self, author):
        """From the next tweet on, nothing of this author is pushed."""
        self.since.setdefault(author, self.next_id())

    def demote(self, author):
        """Push again from now on, let the followers catch up, then let the readers know."""
        if author in self.since:
            self.until[author] = self.next_id()
            for follower in [f for f, followee in self.archive.follows if followee == author]:
                self.settle(follower, author)
            del self.since[author], self.until[author]

    # what fan-out does
    def fan_out(self, said):
        author, tweet_id = said.author_id, said.tweet_id
        self.cache.recents.setdefault(author, []).append(tweet_id)
        self.cache.authors.arrive(author, tweet_id)
        self.cache.home.arrive(author, tweet_id)
        if author not in self.since or tweet_id < self.since[author] or tweet_id >= self.until.get(author, TOP):
            for follower in [f for f, followee in self.archive.follows if followee == author]:
                self.cache.home.arrive(follower, tweet_id)

    def settle(self, follower, followee):
        self.cache.notes.setdefault(follower, set()).add(followee)
        ids = [*self.cache.recents.get(followee, []), *self.archive.ids({followee: TOP}, 99)[followee].ids]
        self.cache.home.agree(follower, followee, (follower, followee) in self.archive.follows, ids)

    def bury(self, tweet_id):
        self.cache.known[tweet_id] = None

    def deliver(self, n):
        """Handle any of the events that wait, in any order."""
        if self.pending:
            handle, *arguments = self.pending.pop(n % len(self.pending))
            handle(*arguments)

    def replay(self, n):
        """Handle all events again from somewhere on."""
        self.pending += self.topic[n:]

    def deliver_late(self, user, n):
        """Insert what a fan-out read its followers for before an unfollow."""
        if ids := sorted(self.archive.said):
            self.cache.home.arrive(user, ids[n % len(ids)])

    # what machines do
    def catch_up(self):
        """Let the indexes have all that the tables have."""
        self.archive.index_lacks.clear()
        self.archive.index_follows = None

    def wait(self):
        self.now += HELD + 0.1

    def evict(self, user):
        self.cache.home.cool(user)

    def evict_author(self, user):
        self.cache.authors.cool(user)

    def shorten(self, user, length):
        self.cache.home.shorten(user, length)
        self.cache.authors.shorten(user, length)

    def forget_bodies(self):
        self.cache.known = {tweet_id: body for tweet_id, body in self.cache.known.items() if body is None}

    def die_building(self, user):
        """Leave a mark that nobody will come back to."""
        self.cache.home.begin(user)

    def lose_cache(self):
        """Redis restarts empty; what it remembered of recent tweets, the indexes have by then."""
        self.catch_up()
        for timelines in (self.cache.home, self.cache.authors):
            timelines.warm.clear()
            timelines.marks.clear()
        self.cache.recents.clear()
        self.cache.known.clear()
        self.cache.history += 1

    def during(self, place, step, *arguments):
        """Let something happen in the middle of the next read or rebuild that comes by there."""
        part, name = place
        setattr(part(self), name, lambda: step(self, *arguments))

    # what readers see
    def famous(self):
        return frozenset(self.since)

    def turn(self, user, limit):
        """Read the next page while all this goes on: further down than the last one, and in order."""
        cursor, last = self._sessions.pop(user, (TOP, TOP))
        page = self.reading.home(user, limit, cursor)
        ids = [last, *(tweet.tweet_id for tweet in page.tweets)]
        assert all(above > below for above, below in pairwise(ids))
        if page.next_cursor:
            assert len(page.tweets) == limit
            self._sessions[user] = read_cursor(page.next_cursor), ids[-1]

    def paged(self, user, limit, seen=NOTHING):
        """Page from the top to the end; only the last page may be short."""
        pages, cursor = [], TOP
        while True:
            page = self.reading.home(user, limit, cursor, seen)
            pages.append(page.tweets)
            if page.next_cursor is None:
                break
            assert len(page.tweets) == limit
            cursor = read_cursor(page.next_cursor)
        return [one for page in pages for one in page]

    def mark(self, user):
        """Look at the top, and return the mark to ask from later."""
        return read_mark(self.reading.home(user, 1).newest)

    def dust_settles(self):
        """All events are handled, the indexes have caught up, what died is forgotten, and nothing more happens."""
        for part in (self.cache.home, self.cache.authors, self.archive):
            part.calm()
        self.catch_up()
        while self.pending:
            self.deliver(0)
        for user in [*self.cache.home.marks]:
            self.evict(user)
        self.wait()

    def next_id(self):
        self._count += 1
        return str(int(first_id(int(self.now * 1000))) + self._count)

    def _tell(self, *event):
        self.topic.append(event)
        self.pending.append(event)
