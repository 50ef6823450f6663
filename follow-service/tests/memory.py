"""The store in memory: what the rules are tested on, held to the same tests as DynamoDB."""

from follow_service.follows import BadCursorError, Edge, Followed, Page, Profile


class MemoryStore:
    """A Store that forgets."""

    def __init__(self) -> None:
        self.profiles: dict[str, Profile] = {}
        self.edges: dict[Edge, int] = {}

    def check(self) -> None:
        """Answer always."""

    def profile(self, user_id: str) -> Profile | None:
        return self.profiles.get(user_id)

    def save_profile(self, user_id: str, display_name: str, now: int) -> tuple[Profile, bool]:
        old = self.profiles.get(user_id)
        self.profiles[user_id] = Profile(user_id, display_name, False, 0, 0, old.created_at if old else now)
        return self.profiles[user_id], old is None

    def add(self, edge: Edge, now: int) -> None:
        self.edges.setdefault(edge, now)

    def remove(self, edge: Edge) -> None:
        self.edges.pop(edge, None)

    def followers(self, user_id: str, limit: int, cursor: str | None) -> Page:
        rows = [Followed(e.follower_id, at) for e, at in self.edges.items() if e.followee_id == user_id]
        return _page(rows, limit, cursor)

    def following(self, user_id: str, limit: int, cursor: str | None) -> Page:
        rows = [Followed(e.followee_id, at) for e, at in self.edges.items() if e.follower_id == user_id]
        return _page(rows, limit, cursor)


def _page(rows: list[Followed], limit: int, cursor: str | None) -> Page:
    if cursor is not None and not cursor.isdecimal():
        raise BadCursorError("cursor: give back a next_cursor as it came, or leave it out")
    start = int(cursor or 0)
    rows.sort(key=lambda row: row.followed_at, reverse=True)
    end = start + limit
    return Page(rows[start:end], str(end) if end < len(rows) else None)
