"""Timelines and followers in memory; each call can be made to fail."""

from collections import defaultdict
from dataclasses import replace

from fanout_worker import layout
from fanout_worker.celebrities import Author
from fanout_worker.deliveries import StoreAwayError


class Memory:
    """Both stores of the deliveries, with the order of what was asked of them."""

    def __init__(self, faults=()):
        self.lists = defaultdict(list)
        self.following = defaultdict(set)
        self.edges = set()
        self.said = defaultdict(list)
        self.recents = defaultdict(list)
        self.said_by = defaultdict(list)
        self.authors = defaultdict(Author)
        self.buried = set()
        self.noted = set()
        self.asked = []
        self.meanwhile = lambda *_: None
        self._faults = iter(faults)

    def remember(self, author_id, tweet_id):
        self._ask("remember", tweet_id)
        self.recents[author_id].append(tweet_id)

    def own(self, author_id, tweet_id):
        self._ask("own", author_id)
        self.said_by[author_id] = placed(self.said_by[author_id], tweet_id)
        self.lists[author_id] = placed(self.lists[author_id], tweet_id)
        return 2

    def insert(self, tweet_id, user_ids):
        self._ask("insert", *user_ids)
        for user_id in user_ids:
            self.lists[user_id] = placed(self.lists[user_id], tweet_id)
        return len(user_ids)

    def note(self, follower_id, followee_id):
        self._ask("note", follower_id)
        self.noted.add((follower_id, followee_id))
        return bool(self.lists[follower_id])

    def recent(self, author_id):
        self._ask("recent", author_id)
        return self.recents[author_id]

    def agree(self, follower_id, followee_id, tweet_ids):
        self._ask("agree", follower_id)
        ids, following, warm = agreed(self.lists[follower_id], self.following[follower_id], followee_id, tweet_ids)
        self.lists[follower_id], self.following[follower_id] = ids, following
        return warm

    def bury(self, tweet_id):
        self._ask("bury", tweet_id)
        self.buried.add(tweet_id)

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
        self._ask("begin", user_id)
        author = self.authors[user_id]
        if not author.since or author.followers_count >= threshold:
            return False
        self.authors[user_id] = replace(author, until=author.until or until)
        return True

    def end_demotion(self, user_id, since, until):
        self._ask("end", user_id)
        author = self.authors[user_id]
        if (author.since, author.until) != (since, until):
            return False
        self.authors[user_id] = Author(author.followers_count)
        return True

    def author_of(self, tweet_id):
        return next((author for author, said in self.said.items() if tweet_id in said), None)

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

    def _ask(self, *call):
        self.asked.append(call)
        self.meanwhile(call[0])
        if next(self._faults, False):
            raise StoreAwayError("no route")


def placed(ids, tweet_id, cap=layout.CAP, slack=layout.SLACK):
    """The rule of insert.lua, said in Python: the list after one insert."""
    if not ids:
        return []
    mark = ids[-1:] if ids[-1].startswith("!") else []
    known = ids[: len(ids) - len(mark)]
    if known and not mark and int(tweet_id) <= int(known[-1]):
        return ids
    placed = [*sorted({*known, tweet_id}, key=int, reverse=True), *mark]
    return placed[:cap] if len(placed) > cap + slack and not mark else placed


def agreed(ids, following, followee, tweet_ids, cap=layout.CAP):
    """The rule of agree.lua, said in Python: list, following and whether it is warm, after one followee changed."""
    if ids and ids[-1].startswith("!"):
        return [*ids[:-1], f"{ids[-1]}~"], following, False
    if not ids or not following:
        return [], following, False
    if tweet_ids is None:
        return ids, following - {followee}, True
    above = {tweet_id for tweet_id in tweet_ids if int(tweet_id) > int(ids[-1])}
    return sorted({*ids, *above}, key=int, reverse=True)[:cap], following | {followee}, True
