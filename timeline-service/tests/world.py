"""The tables, their indexes, the topics and a fan-out between them, which may be late, out of order and repeated."""

from itertools import pairwise

from contracts.ids import first_id
from murmuration_runtime.settled_mark import SettledMark
from murmuration_timelines import heads, layout
from murmuration_timelines.celebrities import Author
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.layout import MARKER, VERSION
from murmuration_timelines.merge import TOP
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter
from timeline_service.authors import Authors
from timeline_service.background_work import BackgroundWork
from timeline_service.bodies import Bodies
from timeline_service.builder import Builder
from timeline_service.celebrity_reads import CelebrityReads
from timeline_service.celebrity_tweets import CelebrityTweets
from timeline_service.confirming import Confirming
from timeline_service.cursors import read_cursor
from timeline_service.page import Pages
from timeline_service.rebuild_slots import RebuildSlots
from timeline_service.renewals import Renewals
from timeline_service.since_mark import NOTHING, read_mark

from .memory import MemoryDatabase

CAP = 6  # so that timelines are full, and authors are read in several steps
FEW = 2
WAVE = 1

# Where something else may happen: when a marker was just left, before a commit, and when something was just read.
HOME_BEGUN, AUTHOR_BEGUN = ("begin", "home_timeline"), ("begin", "author_timeline")
HOME_COMMIT, AUTHOR_COMMIT = ("commit", "home_timeline"), ("commit", "author_timeline")
FOLLOWEES, MUTED, IDS, TWEETS = ("followees", ""), ("muted", ""), ("ids", ""), ("tweets", "")
PLACES = [HOME_BEGUN, AUTHOR_BEGUN, HOME_COMMIT, AUTHOR_COMMIT, FOLLOWEES, MUTED, IDS, TWEETS]


class World:
    """What people do, what fan-out does about it when it comes to it, and what readers see."""

    def __init__(self, cap=CAP, least=1, slots=9):
        self.now = 1_700_000_000.0
        self.nodes, self.database = FakeNodes(), MemoryDatabase()
        self.nodes.before = lambda name, keys: name == "commit" and self._interrupt(name, keys[0].partition(":")[0])
        self.nodes.after = lambda name, keys: name == "begin" and self._interrupt(name, keys[0].partition(":")[0])
        self.database.after = lambda name: self._interrupt(name, "")
        self.authors = Authors(self.database, self.database)
        self.writer = TimelineWriter(self.nodes)
        self.nodes.set_clock(lambda: self.now)
        self.cache = self._reader(VERSION)
        self.slots = RebuildSlots(slots, 0)
        self.builder = self._builder(self.cache, cap)
        self.sources, self.comparisons, self.confirmed = [], [], []
        self.edges_mark = SettledMark(self.cache.edges_settled, lambda: self.now)
        self.heard_at = 0.0
        self.edges_are_settled()
        self.pages = self._pages(self.builder, self.cache, least)
        cache = self._reader(VERSION + 1)
        self.next_pages = self._pages(self._builder(cache, cap), cache, least)
        self.topic = []  # every event there ever was
        self.pending = []  # those that fan-out has yet to handle
        self.since, self.until = {}, {}
        self._interruptions = {}
        self._count = 0
        self._sessions = {}

    # what people do
    def say(self, author):
        said = Tweet.written(self.next_id(), author, f"tweet {self._count}", int(self.now * 1000))
        self.database.said[said.tweet_id] = said
        self.database.index_lacks.add(said.tweet_id)
        self._tell(self.fan_out, said)
        return said

    def delete(self, n):
        if ids := sorted(self.database.said):
            gone = ids[n % len(ids)]
            self.database.deleted.add(gone)
            self._tell(self.writer.set_tombstone, gone)

    def follow(self, follower, followee):
        """Follow, or unfollow whom one follows."""
        if follower != followee:
            if self.database.index_follows is None:
                self.database.index_follows = {*self.database.follows}
            self.database.follows ^= {(follower, followee)}
            self._tell(self.refresh_followee, follower, followee)

    def mute(self, muter, muted):
        """Mute, or no longer."""
        if muter != muted:
            self.database.mutes ^= {(muter, muted)}
            self._tell(self.refresh_followee, muter, muted)

    def promote(self, author):
        """From the next tweet on, nothing of this author is pushed."""
        self.since.setdefault(author, self.next_id())

    def demote(self, author):
        """Push again from now on, let the followers catch up, then let the readers know."""
        if author in self.since:
            self.until[author] = self.next_id()
            for follower in self._followers(author):
                self.refresh_followee(follower, author)
            del self.since[author], self.until[author]

    # what fan-out does
    def fan_out(self, said):
        author, tweet_id = said.author_id, said.tweet_id
        self.writer.add_recent(author, tweet_id)
        self.writer.insert_own(author, tweet_id)
        if Author(0, self.since.get(author), self.until.get(author)).is_pushed(tweet_id):
            self.writer.insert(tweet_id, self._followers(author))

    def refresh_followee(self, follower, followee):
        overtaken = [follower]
        while noted := self.writer.note(followee, overtaken):
            readers = [follower] if (follower, followee) in self.database.follows - self.database.mutes else []
            ids = {*self.writer.recent(followee), *self.database.ids({followee: TOP}, 99)[followee].ids}
            overtaken = self.writer.agree(followee, noted, readers, ids)

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
        if ids := sorted(self.database.said):
            self.writer.insert(ids[n % len(ids)], [user])

    # what machines do
    def catch_up(self):
        """Let the indexes have all that the tables have."""
        self.database.index_lacks.clear()
        self.database.index_follows = None

    def wait(self):
        self.now += 1.1

    def edges_are_settled(self):
        """As the worker says it, and a process hears it a little later."""
        self.writer.settle(dict.fromkeys(PARTITIONS, int(self.now * 1000)))
        self.edges_mark.refresh()

    def let_days_pass(self, days):
        self.catch_up()  # no index lags for so long
        self.now += days * heads.DAY

    def evict(self, user):
        self.nodes.forget(layout.home_timeline(user))

    def evict_author(self, user):
        self.nodes.forget(layout.author_timeline(user))

    def evict_shown(self, user):
        self.nodes.forget(layout.home_shown(user))

    def shorten(self, user, length):
        """Cut the tail, as fan-out does over the cap."""
        for key in (layout.home_timeline(user), layout.author_timeline(user)):
            ids = self.nodes.values.get(key)
            if ids and not ids[-1].startswith(MARKER) and 0 < length < len(ids):
                self.nodes.values[key] = ids[:length]

    def forget_bodies(self):
        self.nodes.forget(*(key for key, body in self.nodes.values.items() if key.startswith("tweet:") and body))

    def die_building(self, user):
        """Leave a marker that nobody will come back to."""
        self.cache.home.begin(user)

    def lose_cache(self):
        """Redis restarts empty; what it remembered of recent tweets and edges, the indexes have by then."""
        self.catch_up()
        self.nodes.begin_anew()

    def take_redis_away(self):
        self.nodes.away = True

    def promote_a_replica(self):
        """Redis has lost nothing, and nobody can know."""
        self.nodes.change_history()

    def during(self, place, step, *arguments):
        """Let something happen in the middle of the next read or rebuild that comes by there."""
        self._interruptions[place] = lambda: step(self, *arguments)

    # what readers see
    def famous(self, shown):
        return [author for author in self.since if author in shown]

    def warm(self, user):
        """Return the cached timeline, or None."""
        return self.cache.home.load([user]).get(user)

    def turn(self, user, limit, *, is_next=False):
        """Read the next page while all this goes on: further down than the last one, and in order."""
        cursor, last = self._sessions.pop(user, (TOP, TOP))
        page = (self.next_pages if is_next else self.pages).home(user, limit, cursor)
        ids = [last, *(tweet.tweet_id for tweet in page.tweets)]
        assert all(above > below for above, below in pairwise(ids))
        if page.next_cursor:
            assert len(page.tweets) == limit
            self._sessions[user] = read_cursor(page.next_cursor), ids[-1]

    def turn_in_the_next_version(self, user, limit):
        """The same, by a process whose layout has another version."""
        self.turn(user, limit, is_next=True)

    def paged(self, user, limit, since=NOTHING, pages=None):
        """Page from the top to the end; only the last page may be short."""
        found, cursor = [], TOP
        while True:
            page = (pages or self.pages).home(user, limit, cursor, since)
            found += page.tweets
            if page.next_cursor is None:
                return found
            assert len(page.tweets) == limit
            cursor = read_cursor(page.next_cursor)

    def mark(self, user):
        """Look at the top, and return the mark to ask from later."""
        return read_mark(self.pages.home(user, 1).newest)

    def dust_settles(self):
        """All events are handled, the indexes have caught up, what died is forgotten, and nothing more happens."""
        self._interruptions.clear()
        self.catch_up()
        while self.pending:
            self.deliver(0)
        lists = {key: value for key, value in self.nodes.values.items() if isinstance(value, list)}
        self.nodes.forget(*(key for key, ids in lists.items() if ids[-1].startswith(MARKER)))
        self.wait()

    def celebrity_tweets(self, cache, builder, look=lambda _: None, wave=9):
        """Return what a process has of them, which builds cold lists before it goes on."""
        reads = CelebrityReads(self.database, lambda: self.now)
        work = BackgroundWork("not built", lambda work: work())
        return CelebrityTweets(self.famous, cache, builder, reads, look, work, wave, lambda: self.now)

    def next_id(self):
        self._count += 1
        return str(int(first_id(int(self.now * 1000))) + self._count)

    def _reader(self, version):
        return TimelineReader(self.nodes, version=version, now=lambda: self.now)

    def _builder(self, cache, cap):
        parts = cache, self.authors, self.database, self.slots, cap, FEW
        return Builder(*parts, clock=lambda: self.now, departed=self.database.gone)

    def _pages(self, builder, cache, least):
        renewals = Renewals(
            cache, self.authors, builder, self.comparisons.append, lambda: self.now, lambda work: work()
        )
        celebrity_tweets = self.celebrity_tweets(cache, builder, renewals.look_at_celebrities, WAVE)
        bodies = Bodies(cache, self.database)
        parts = cache, self.authors, self.database, builder, celebrity_tweets, bodies, renewals.look
        confirming = Confirming(self.edges_mark, self.database, lambda: self.heard_at, self.confirmed.append)
        return Pages(*parts, self.sources.append, lambda: self.now, confirming, least, self.database.gone)

    def _followers(self, author):
        return [follower for follower, followee in self.database.follows if followee == author]

    def _interrupt(self, name, kind):
        if happens := self._interruptions.pop((name, kind), None):
            happens()

    def _tell(self, *event):
        self.topic.append(event)
        self.pending.append(event)


def days_until(world, is_right):
    """Let days pass until something is right again, fourteen at the most; return how many it took."""
    days = 0
    while not is_right():
        world.now += heads.DAY / 2
        days += 0.5
        assert days < 14
    return days
