"""The database in memory."""

from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run


class MemoryDatabase:
    """Follows, tweets and celebrities, and the truth about what a timeline should be. Its indexes may lag."""

    def __init__(self):
        self.follows = set()
        self.mutes = set()
        self.said = {}
        self.deleted = set()
        self.famous = set()
        self.gone = set()  # who deleted their account
        self.index_follows = None  # by_follower as it was, while it lags
        self.index_lacks = set()  # ids that by_author does not have yet
        self.members = {}
        self.confirmations = []  # of how many authors each
        self.hangs = False
        self.asked_for_profiles = 0
        self.queries = 0
        self.read = 0
        self.after = lambda _: None  # is told what was read

    def check(self):
        """Answer always."""

    def followees(self, user_id, noted=()):
        edges = self.follows if self.index_follows is None else self.index_follows
        found = {followee for follower, followee in edges if follower == user_id} - {*noted}
        found = frozenset(found | {followee for followee in noted if (user_id, followee) in self.follows})
        self.after("followees")
        return found

    def read_by(self, user_id, author_ids):
        self.confirmations.append(len(author_ids))
        if self.hangs:
            raise StoreAwayError("DynamoDB does not answer")
        return {each for each in author_ids if (user_id, each) in self.follows - self.mutes}

    def muted(self, user_id):
        found = frozenset(muted for muter, muted in self.mutes if muter == user_id)
        self.after("muted")
        return found

    def ids(self, below, count):
        self.queries += len(below)
        found = {}
        for author, top in below.items():
            ids = [t.tweet_id for t in self._newest() if t.author_id == author and t.tweet_id < top]
            ids = [i for i in ids if i not in self.index_lacks]
            self.read += len(ids[:count])
            found[author] = Run(ids[:count], ids[count - 1] if len(ids) >= count else BEGINNING)
        self.after("ids")
        return found

    def tweets(self, tweet_ids):
        found = {i: self.said[i] for i in tweet_ids if i in self.said and i not in self.deleted}
        self.after("tweets")
        return found

    def profiles(self, user_ids):
        self.asked_for_profiles += 1
        return {each: self.members[each] for each in user_ids if each in self.members}

    def departed(self):
        return frozenset(self.gone)

    def celebrities(self):
        return frozenset(self.famous)

    def truth(self, user_id):
        """The undeleted tweets of those the user follows and has not muted, and their own, newest first."""
        authors = {followee for follower, followee in self.follows - self.mutes if follower == user_id} | {user_id}
        return [t for t in self._newest() if t.author_id in authors]

    def _newest(self):
        return sorted(
            (t for i, t in self.said.items() if i not in self.deleted), key=lambda t: t.tweet_id, reverse=True
        )
