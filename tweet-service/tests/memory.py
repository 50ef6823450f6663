"""The store in memory: what the rules are tested on, held to the same tests as DynamoDB."""

from tweet_service.tweets import BadCursorError, Claim, Kept, Page, TakenIdError, Tweet


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

    def mark_deleted(self, tweet_id: str, now: int) -> None:  # noqa: ARG002
        self.rows[tweet_id] = Kept(self.rows[tweet_id].tweet, deleted=True)

    def by_author(self, author_id: str, limit: int, cursor: str | None) -> Page:
        if cursor is not None and not cursor.isdecimal():
            raise BadCursorError("cursor: give back a next_cursor as it came, or leave it out")
        said = sorted((kept.tweet for kept in self.rows.values() if not kept.deleted), key=lambda t: -int(t.tweet_id))
        below = [t for t in said if t.author_id == author_id and (cursor is None or int(t.tweet_id) < int(cursor))]
        return Page(below[:limit], below[limit - 1].tweet_id if len(below) > limit else None)
