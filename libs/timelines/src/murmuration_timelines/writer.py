"""What fanout-worker writes. Each write is safe to repeat, and in any order.

Rule: a tweet is added to its author's recent ones before anybody's followers are read, and every insertion comes after
that. So whoever begins to follow, or to rebuild a timeline, after the followers were read finds the tweet there.

Rule of a follow: first `note`, then the edge is read, then `agree`. If another hand wrote in between, whom the timeline
shows has another edition than was noted, and nothing is written; so nobody writes what they read before another did.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from murmuration_runtime.redis_nodes import Argument, Item, Nodes, Script
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_runtime.settled import Partition
from murmuration_timelines import layout
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.scripts import AGREE, INSERT, NOTE, REMEMBER
from murmuration_timelines.shown import digest

_OVERTAKEN = 2
_AGREED_AT_ONCE = 16  # timelines; to merge hundreds of ids into one takes Redis half a millisecond


class TimelineWriter:
    """Home timelines, authors' own timelines and recent tweets, notes, and tombstones."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._settled = RedisSettled(nodes, layout.EDGES_SETTLED, PARTITIONS)

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us write what we do.

        That is a timeline, and until when edges are settled: 0 says nothing.
        """

        def use() -> None:
            self.insert("", [layout.NOBODY])
            self.settle({min(PARTITIONS): 0})

        self._nodes.check(use)

    def add_recent(self, author_id: str, tweet_id: str) -> None:
        """Keep the tweet among its author's recent ones."""
        with self._nodes.errors_named():
            args = tweet_id, layout.RECENT, layout.RECENT_SECONDS
            self._nodes.call(REMEMBER, [layout.recent(author_id)], args)

    def recent(self, author_id: str) -> list[str]:
        """Return the author's latest ids: the index may not have them yet."""
        with self._nodes.errors_named():
            return [*self._nodes.command("ZRANGE", layout.recent(author_id), 0, -1)]

    def insert_own(self, author_id: str, tweet_id: str) -> int:
        """Insert the tweet into its author's two timelines, where they are warm; return into how many."""
        return self._insert(tweet_id, [layout.author_timeline(author_id), layout.home_timeline(author_id)])

    def insert(self, tweet_id: str, user_ids: Iterable[str]) -> int:
        """Insert the tweet into these users' home timelines, where they are warm; return into how many at least."""
        return self._insert(tweet_id, map(layout.home_timeline, user_ids))

    def note(self, followee_id: str, follower_ids: Iterable[str], *, silent: set[str] | None = None) -> dict[str, str]:
        """Note that these edges changed; return of each follower who has a timeline its edition, for `agree`.

        silent: takes whose node does not answer, as long as one does. Without it that is an error, as in `agree`.
        """
        items: dict[Item, str] = {
            (layout.noted(each), layout.home_timeline(each), layout.home_shown(each)): each for each in follower_ids
        }
        editions = self._ask(NOTE, (followee_id, layout.NOTE_SECONDS), items, silent)
        return {follower_id: edition for follower_id, edition in editions.items() if edition is not None}

    def agree(
        self,
        followee_id: str,
        noted: Mapping[str, str],
        followers: Collection[str],
        tweet_ids: Iterable[str],
        *,
        silent: set[str] | None = None,
    ) -> list[str]:
        """Let the timelines of all who were noted show a followee if they are among the followers, else not.

        tweet_ids: the followee's latest. Return who was overtaken: note them again.
        """
        args = digest(followee_id), layout.CAP, *_counted(sorted(tweet_ids, reverse=True))
        overtaken: list[str] = []
        asked = iter(noted.items())
        while some := dict(islice(asked, _AGREED_AT_ONCE)):
            items = {(*_keys(each), edition, str(int(each in followers))): each for each, edition in some.items()}
            said = self._ask(AGREE, args, items, silent)
            overtaken += [follower_id for follower_id, outcome in said.items() if outcome == _OVERTAKEN]
        return overtaken

    def set_tombstone(self, tweet_id: str) -> None:
        """Let every reader know that the tweet is deleted."""
        with self._nodes.errors_named():
            self._nodes.command("SET", layout.body(tweet_id), "", "EX", layout.TOMBSTONE_SECONDS)

    def settle(self, untils: Mapping[Partition, int]) -> None:
        """Say until when (ms) partitions of edges are settled; what was said and is later stays."""
        self._settled.write(untils)

    def _ask(
        self, script: Script, args: Sequence[Argument], items: Mapping[Item, str], silent: set[str] | None
    ) -> dict[str, Any]:
        """Return the script's answer about each user."""
        with self._nodes.errors_named():
            parts = self._nodes.gather(script, args, [*items], whole=silent is None)
        answers = {items[item]: said for part, answer in parts for item, said in zip(part, answer, strict=True)}
        if silent is not None:
            silent |= {*items.values()} - answers.keys()
        return answers

    def _insert(self, tweet_id: str, keys: Iterable[str]) -> int:
        with self._nodes.errors_named():
            answers = self._nodes.gather(INSERT, (tweet_id, layout.CAP, layout.SLACK), [(key,) for key in keys])
        return sum(count for _, count in answers)


def connect(url: str, **options: Any) -> Nodes:
    """Make a client that gives up within seconds: whoever writes tries again."""
    return Nodes(url, connect_timeout=2, timeout=4, **options)


def _keys(user_id: str) -> Item:
    return layout.home_timeline(user_id), layout.home_shown(user_id), layout.followees(user_id)


def _counted(ids: Sequence[str]) -> Sequence[Argument]:
    return len(ids), *ids
