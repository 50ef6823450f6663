"""The store in memory: what the rules are tested on, held to the same tests as DynamoDB."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from contracts.profiles import Profile
from follow_service.follows import Account, Edge, Followed, Follows, Requested, Requests, Standing
from murmuration_edge.cursors import BadCursorError

LONGEST_KEY = 2048


class MemoryStore:
    """A Store that forgets, and counts without delay."""

    def __init__(self) -> None:
        self.batches = 0
        self.rows: dict[str, Profile] = {}
        self.deleted: set[str] = set()
        self.edges: dict[Edge, int] = {}
        self.asked: dict[Edge, int] = {}

    def check(self) -> None:
        """Answer always."""

    def profile(self, user_id: str) -> Profile | None:
        found = self.rows.get(user_id)
        if found is None or user_id in self.deleted:
            return None
        followers = sum(edge.followee_id == user_id for edge in self.edges)
        return replace(found, followers_count=followers, following_count=self._following(user_id))

    def profiles(self, user_ids: Collection[str]) -> Mapping[str, Profile]:
        self.batches += 1
        if not all(0 < len(user_id) <= LONGEST_KEY for user_id in user_ids):
            raise ValueError("DynamoDB takes no such key")
        return {user_id: found for user_id in user_ids if (found := self.profile(user_id))}

    def save_profile(
        self, user_id: str, display_name: str, is_private: bool | None, now: int
    ) -> tuple[Profile, bool] | None:
        if user_id in self.deleted:
            return None
        old = self.rows.get(user_id)
        private = bool(old and old.is_private) if is_private is None else is_private
        self.rows[user_id] = Profile(user_id, display_name, private, 0, 0, old.created_at if old else now)
        return self.profile(user_id), old is None

    def delete_account(self, user_id: str, now: int) -> None:  # noqa: ARG002
        self.deleted.add(user_id)

    def standing(self, edge: Edge) -> Standing:
        follower, followee = self._account(edge.follower_id), self._account(edge.followee_id)
        return Standing(follower, followee, edge in self.edges, edge in self.asked)

    def add(self, edge: Edge, now: int) -> None:
        self.edges.setdefault(edge, now)

    def remove(self, edge: Edge) -> None:
        self.edges.pop(edge, None)

    def request(self, edge: Edge, now: int) -> None:
        self.asked.setdefault(edge, now)

    def withdraw(self, edge: Edge) -> None:
        self.asked.pop(edge, None)

    def accept(self, edge: Edge, now: int) -> bool:
        if self.asked.pop(edge, None) is None:
            return False
        self.edges.setdefault(edge, now)
        return True

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        rows = [Followed(e.follower_id, at) for e, at in self.edges.items() if e.followee_id == user_id]
        return Follows(*_page(sorted(rows, key=lambda row: -row.followed_at), limit, cursor))

    def following(self, user_id: str, limit: int, cursor: str | None) -> Follows:
        rows = [Followed(e.followee_id, at) for e, at in self.edges.items() if e.follower_id == user_id]
        return Follows(*_page(sorted(rows, key=lambda row: -row.followed_at), limit, cursor))

    def requests(self, user_id: str, limit: int, cursor: str | None) -> Requests:
        rows = [Requested(e.follower_id, at) for e, at in self.asked.items() if e.followee_id == user_id]
        return Requests(*_page(sorted(rows, key=lambda row: -row.requested_at), limit, cursor))

    def _account(self, user_id: str) -> Account:
        found, deleted = self.rows.get(user_id), user_id in self.deleted
        private = found is not None and found.is_private
        return Account(found is not None and not deleted, deleted, private, self._following(user_id))

    def _following(self, user_id: str) -> int:
        return sum(edge.follower_id == user_id for edge in self.edges)


def _page(rows, limit, cursor):
    if cursor is not None and not cursor.isdecimal():
        raise BadCursorError
    start = int(cursor or 0)
    end = start + limit
    return rows[start:end], str(end) if end < len(rows) else None
