"""Timelines and followers in memory; each call can be made to fail."""

from collections import defaultdict

from fanout_worker import layout
from fanout_worker.deliveries import StoreAwayError


class Memory:
    """Both stores of the deliveries, with the order of what was asked of them."""

    def __init__(self, faults=()):
        self.lists = defaultdict(list)
        self.follows = defaultdict(list)
        self.buried = set()
        self.asked = []
        self._faults = iter(faults)

    def remember(self, tweet, now):  # noqa: ARG002
        self._ask("remember", tweet.tweet_id)

    def insert(self, tweet_id, user_ids):
        self._ask("insert", *user_ids)
        for user_id in user_ids:
            self.lists[user_id] = placed(self.lists[user_id], tweet_id)
        return len(user_ids)

    def cool(self, user_id):
        self._ask("cool", user_id)
        self.lists[user_id] = []

    def bury(self, tweet_id):
        self._ask("bury", tweet_id)
        self.buried.add(tweet_id)

    def pages(self, followee_id):
        self._ask("pages", followee_id)
        everyone = self.follows[followee_id]
        for start in range(0, len(everyone), 2):
            yield everyone[start : start + 2]

    def _ask(self, *call):
        self.asked.append(call)
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
    return placed[:cap] if len(placed) > cap + slack else placed
