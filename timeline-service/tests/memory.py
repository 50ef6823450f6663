"""The cache and the archive in memory."""

import itertools

from timeline_service.timeline import CacheAwayError, Timeline


class MemoryCache:
    """A Cache that keeps what fan-out and rebuilds put there, or is away altogether."""

    def __init__(self):
        self.timelines = {}
        self.marks = {}
        self.recents = {}
        self.known = {}
        self.notes = {}
        self.away = False
        self._tokens = itertools.count(1)

    def check(self):
        self._ask()

    def load(self, user_id):
        self._ask()
        return self.timelines.get(user_id)

    def begin(self, user_id):
        self._ask()
        if user_id in self.timelines or user_id in self.marks:
            return None
        self.marks[user_id] = (str(next(self._tokens)), [])
        return self.marks[user_id][0]

    def commit(self, user_id, token, timeline):
        self._ask()
        if self.marks.get(user_id, ("", []))[0] != token:
            return False
        _, arrived = self.marks.pop(user_id)
        ids = {*timeline.ids, *(i for i in arrived if int(i) > int(timeline.floor))}
        self.timelines[user_id] = Timeline(sorted(ids, key=int, reverse=True), timeline.floor, timeline.following)
        return True

    def noted(self, user_id):
        self._ask()
        return self.notes.get(user_id, [])

    def recent(self, author_ids):
        self._ask()
        return [tweet_id for author_id in author_ids for tweet_id in self.recents.get(author_id, [])]

    def bodies(self, tweet_ids):
        self._ask()
        return {tweet_id: self.known[tweet_id] for tweet_id in tweet_ids if tweet_id in self.known}

    def fill(self, tweets, gone):
        self._ask()
        for tweet in tweets:
            self.known.setdefault(tweet.tweet_id, tweet)
        self.known |= dict.fromkeys(gone)

    def arrive(self, user_id, tweet_id):
        """Insert as fan-out does: into a warm timeline above its floor, or above a mark."""
        if user_id in self.marks:
            self.marks[user_id][1].append(tweet_id)
        old = self.timelines.get(user_id)
        if old and int(tweet_id) > int(old.floor):
            ids = sorted({*old.ids, tweet_id}, key=int, reverse=True)
            self.timelines[user_id] = Timeline(ids, old.floor, old.following)

    def cool(self, user_id):
        """Forget, as a changed follow makes fan-out do."""
        self.timelines.pop(user_id, None)
        self.marks.pop(user_id, None)

    def shorten(self, user_id, length):
        """Cut the tail, as fan-out does over the cap."""
        old = self.timelines[user_id]
        if 0 < length < len(old.ids):
            self.timelines[user_id] = Timeline(old.ids[:length], old.ids[length - 1], old.following)

    def _ask(self):
        if self.away:
            raise CacheAwayError("no route")


class MemoryArchive:
    """An Archive, and the truth about what a timeline should be."""

    def __init__(self):
        self.follows = set()
        self.said = {}
        self.deleted = set()
        self.on_followees = None
        self.lagging = None

    def check(self):
        """Answer always."""

    def followees(self, user_id, noted=()):
        edges = self.follows if self.lagging is None else self.lagging
        found = {followee for follower, followee in edges if follower == user_id} - {*noted}
        found = frozenset(found | {followee for followee in noted if (user_id, followee) in self.follows})
        if self.on_followees:
            hook, self.on_followees = self.on_followees, None
            hook()
        return found

    def latest(self, author_ids, below, count):
        return [
            [t for t in self._newest() if t.author_id == author and int(t.tweet_id) < int(below)][:count]
            for author in author_ids
        ]

    def tweets(self, tweet_ids):
        return {i: self.said[i] for i in tweet_ids if i in self.said and i not in self.deleted}

    def truth(self, user_id):
        """The undeleted tweets of those the user follows, and their own, newest first."""
        authors = {followee for follower, followee in self.follows if follower == user_id} | {user_id}
        return [t for t in self._newest() if t.author_id in authors]

    def _newest(self):
        return sorted((t for i, t in self.said.items() if i not in self.deleted), key=lambda t: -int(t.tweet_id))
