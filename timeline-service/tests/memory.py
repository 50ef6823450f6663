"""The cache and the archive in memory."""

import itertools

from timeline_service.timeline import BEGINNING, CacheAwayError, Run, Timeline, Tweet


class Interrupted:
    """Something else may happen in the middle of what it does, once."""

    def __init__(self):
        self.calm()

    def calm(self):
        self.on_begin = self.on_commit = self.on_followees = self.on_ids = self.on_tweets = None

    def _interrupt(self, name):
        hook = getattr(self, name)
        setattr(self, name, None)
        if hook:
            hook()


class MemoryTimelines(Interrupted):
    """Timelines of one kind, that keep what fan-out and builders put there."""

    def __init__(self, ask):
        super().__init__()
        self.warm = {}
        self.marks = {}
        self.changed = set()  # whose follows changed since the mark
        self._ask = ask
        self._tokens = itertools.count(1)

    def load(self, owner_ids, count=None):
        self._ask()
        return {owner_id: _newest(self.warm[owner_id], count) for owner_id in owner_ids if owner_id in self.warm}

    def begin(self, owner_id):
        self._ask()
        if owner_id in self.warm or owner_id in self.marks:
            return None
        self.marks[owner_id] = (token := str(next(self._tokens)), [])
        self.changed.discard(owner_id)
        self._interrupt("on_begin")
        return token

    def renew(self, owner_id, token, *, look_again=False):
        self._ask()
        there = self.marks.get(owner_id, ("", []))[0] == token
        if there and look_again:
            self.changed.discard(owner_id)
        return there

    def commit(self, owner_id, token, timeline):
        self._ask()
        self._interrupt("on_commit")
        if self.marks.get(owner_id, ("", []))[0] != token or owner_id in self.changed:
            return False
        _, arrived = self.marks.pop(owner_id)
        ids = {*timeline.ids, *(i for i in arrived if int(i) > int(timeline.floor))}
        self.warm[owner_id] = Timeline(sorted(ids, key=int, reverse=True), timeline.floor, timeline.following)
        return True

    def arrive(self, owner_id, *tweet_ids):
        """Insert as fan-out does: into a warm timeline above its floor, or above a mark."""
        if owner_id in self.marks:
            self.marks[owner_id][1].extend(tweet_ids)
        if old := self.warm.get(owner_id):
            ids = sorted({*old.ids, *(i for i in tweet_ids if int(i) > int(old.floor))}, key=int, reverse=True)
            self.warm[owner_id] = Timeline(ids, old.floor, old.following)

    def agree(self, follower_id, followee_id, following, tweet_ids):
        """Do what a changed follow does: mend a warm timeline, or let a rebuild look again."""
        self.changed.add(follower_id)
        if old := self.warm.get(follower_id):
            changed = old.following | {followee_id} if following else old.following - {followee_id}
            self.warm[follower_id] = Timeline(old.ids, old.floor, changed)
            self.arrive(follower_id, *tweet_ids)

    def cool(self, owner_id):
        """Forget, as an eviction does, or the death of a mark."""
        self.warm.pop(owner_id, None)
        self.marks.pop(owner_id, None)

    def shorten(self, owner_id, length):
        """Cut the tail, as fan-out does over the cap."""
        old = self.warm.get(owner_id)
        if old and 0 < length < len(old.ids):
            self.warm[owner_id] = Timeline(old.ids[:length], old.ids[length - 1], old.following)


def _newest(timeline, count):
    if count is None or len(timeline.ids) < count:
        return timeline
    return Timeline(timeline.ids[:count], timeline.ids[count - 1], timeline.following)


class MemoryCache:
    """A Cache that may be away altogether."""

    def __init__(self):
        self.home = MemoryTimelines(self.check)
        self.authors = MemoryTimelines(self.check)
        self.recents = {}
        self.known = {}
        self.notes = {}
        self.away = False
        self.history = 1

    def check(self):
        if self.away:
            raise CacheAwayError("no route")

    def noted(self, user_id):
        self.check()
        return self.notes.get(user_id, [])

    def recent(self, author_ids):
        self.check()
        return [tweet_id for author_id in author_ids for tweet_id in self.recents.get(author_id, [])]

    def bodies(self, tweet_ids):
        self.check()
        missing = [tweet_id for tweet_id in tweet_ids if tweet_id not in self.known]
        return {i: self.known[i] for i in tweet_ids if i in self.known}, dict.fromkeys(missing, self.history)

    def fill(self, rights, tweets):
        self.check()
        for tweet_id, right in rights.items():
            if tweet_id not in tweets:
                self.known[tweet_id] = None
            elif right == self.history:
                self.known.setdefault(tweet_id, tweets[tweet_id])

    def fail_over(self):
        """Go on as a replica that had nothing: all is cold, and whatever is written is of another history."""
        self.history += 1
        for timelines in (self.home, self.authors):
            timelines.warm.clear()
            timelines.marks.clear()
        self.recents.clear()
        self.notes.clear()
        self.known.clear()


class MemoryArchive(Interrupted):
    """An Archive, and the truth about what a timeline should be. Its indexes may lag behind its tables."""

    def __init__(self):
        super().__init__()
        self.follows = set()
        self.said: dict[str, Tweet] = {}
        self.deleted = set()
        self.famous = set()
        self.index_follows = None  # by_follower as it was, while it lags
        self.index_lacks = set()  # ids that by_author does not have yet
        self.queries = 0
        self.read = 0

    def check(self):
        """Answer always."""

    def followees(self, user_id, noted=()):
        edges = self.follows if self.index_follows is None else self.index_follows
        found = {followee for follower, followee in edges if follower == user_id} - {*noted}
        found = frozenset(found | {followee for followee in noted if (user_id, followee) in self.follows})
        self._interrupt("on_followees")
        return found

    def ids(self, below, count):
        self.queries += len(below)
        found = {}
        for author, top in below.items():
            ids = [t.tweet_id for t in self._newest() if t.author_id == author and t.tweet_id < top]
            ids = [i for i in ids if i not in self.index_lacks]
            self.read += len(ids[:count])
            found[author] = Run(ids[:count], ids[count - 1] if len(ids) >= count else BEGINNING)
        self._interrupt("on_ids")
        return found

    def tweets(self, tweet_ids):
        found = {i: self.said[i] for i in tweet_ids if i in self.said and i not in self.deleted}
        self._interrupt("on_tweets")
        return found

    def celebrities(self):
        return set(self.famous)

    def truth(self, user_id):
        """The undeleted tweets of those the user follows, and their own, newest first."""
        authors = {followee for follower, followee in self.follows if follower == user_id} | {user_id}
        return [t for t in self._newest() if t.author_id in authors]

    def _newest(self):
        return sorted(
            (t for i, t in self.said.items() if i not in self.deleted), key=lambda t: t.tweet_id, reverse=True
        )
