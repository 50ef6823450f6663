"""The store in memory: what the rules are tested on, held to the same tests as DynamoDB."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from contracts.profiles import Display, Profile
from murmuration_edge.cursors import BadCursorError
from tweet_service.audience import Author
from tweet_service.erasure import Due
from tweet_service.tweets import Claim, Kept, TakenIdError, Tweet, Tweets

LONGEST_KEY = 2048


class MemoryStore:
    """A Store that forgets."""

    def __init__(self) -> None:
        self.rows: dict[str, Kept] = {}
        self.claims: dict[tuple[str, str], Claim] = {}

    def check(self) -> None:
        """Answer always."""

    def add(self, tweet: Tweet) -> None:
        if tweet.tweet_id in self.rows:
            raise TakenIdError(tweet.tweet_id)
        self.rows[tweet.tweet_id] = Kept(tweet, deleted=False)

    def claim(self, author_id: str, key: str, claim: Claim) -> Claim:
        return self.claims.setdefault((author_id, key), claim)

    def unclaim(self, author_id: str, key: str, tweet_id: str) -> None:
        if self.claims[author_id, key].tweet_id == tweet_id:
            del self.claims[author_id, key]

    def find(self, tweet_id: str) -> Kept | None:
        return self.rows.get(tweet_id)

    def find_all(self, tweet_ids: Collection[str]) -> Mapping[str, Kept]:
        if not all(0 < len(tweet_id) <= LONGEST_KEY for tweet_id in tweet_ids):
            raise ValueError("DynamoDB takes no such key")
        return {tweet_id: self.rows[tweet_id] for tweet_id in tweet_ids if tweet_id in self.rows}

    def delete(self, tweet_id: str, now: int) -> None:  # noqa: ARG002
        self.rows[tweet_id] = Kept(replace(self.rows[tweet_id].tweet, text=""), deleted=True)

    def by_author(self, author_id: str, limit: int, cursor: str | None) -> Tweets:
        if cursor is not None and not cursor.isdecimal():
            raise BadCursorError
        said = sorted((kept.tweet for kept in self.rows.values() if not kept.deleted), key=lambda t: -int(t.tweet_id))
        below = [t for t in said if t.author_id == author_id and (cursor is None or int(t.tweet_id) < int(cursor))]
        return Tweets(below[:limit], below[limit - 1].tweet_id if len(below) > limit else None)

    def undeleted(self, author_id: str, below: str | None) -> tuple[list[str], str | None]:
        said = sorted((int(i) for i, kept in self.rows.items() if kept.tweet.author_id == author_id), reverse=True)
        page = [i for i in said if below is None or i < int(below)][:2]
        more = page and page[-1] != said[-1]
        return [str(i) for i in page if not self.rows[str(i)].deleted], str(page[-1]) if more else None


class MemoryAccounts:
    """Accounts and follows that forget."""

    def __init__(self) -> None:
        self.asked = 0
        self.profiles: dict[str, Profile] = {}
        self.private: set[str] = set()
        self.deleted: dict[str, int] = {}
        self.list: set[str] = set()
        self.edges: set[tuple[str, str]] = set()
        self.blocks: set[tuple[str, str]] = set()

    def join(self, user_id: str) -> None:
        self.profiles[user_id] = Profile(user_id, "Somebody", False, 0, 0, 1, Display.of(0, 0))

    def set_private(self, user_id: str) -> None:
        self.private.add(user_id)

    def add_follow(self, follower_id: str, followee_id: str) -> None:
        self.edges.add((follower_id, followee_id))

    def add_block(self, blocker_id: str, blocked_id: str) -> None:
        self.blocks.add((blocker_id, blocked_id))

    def delete(self, user_id: str, now: int) -> None:
        self.deleted[user_id] = now
        self.list.add(user_id)
        self.profiles.pop(user_id, None)

    def authors(self, user_ids: Collection[str], reader_id: str) -> Mapping[str, Author]:
        self.asked += 1
        return {user_id: self._author(user_id, reader_id) for user_id in user_ids}

    def _author(self, user_id: str, reader_id: str) -> Author:
        private, profile = user_id in self.private, self.profiles.get(user_id)
        return Author(
            is_private=private,
            deleted=user_id in self.deleted,
            profile=replace(profile, is_private=private) if profile else None,
            followed=user_id == reader_id or (reader_id, user_id) in self.edges,
            blocked=(reader_id, user_id) in self.blocks,
            blocks=(user_id, reader_id) in self.blocks,
        )

    def due(self) -> list[Due]:
        return [Due(user_id, self.deleted[user_id]) for user_id in sorted(self.list)]

    def erased(self, due: Due) -> None:
        self.list.discard(due.author_id)
