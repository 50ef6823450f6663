"""A celebrity becomes an author like any other.

Rule: first the author's row says that a demotion has begun, and whoever sees that pushes every tweet again. A worker
remembers a tweet before it looks its author up; so those that were not pushed are among the recent ones or in the index
by now, and every follower's timeline is made to hold them. Only then does the row cease to say that readers must merge.
An end anywhere in between leaves a celebrity whose tweets are pushed too, and the next run begins again.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from fanout_worker.celebrities import Author

Settle = Callable[[Iterable[str]], None]


class StillCelebrityError(Exception):
    """Somebody has so many followers that their next tweet would promote them again."""


class Tables(Protocol):
    """The row that says so, and the followers."""

    def author(self, user_id: str) -> Author:
        """Return what decides how an author's tweets travel, strongly consistent."""

    def begin_demotion(self, user_id: str, until: str, threshold: int) -> bool:
        """Have all tweets of a celebrity pushed again; False if they are none, or have the followers of one."""

    def end_demotion(self, user_id: str, since: str, until: str) -> bool:
        """Make somebody a celebrity no longer; False if another demotion has ended this one's."""

    def followers(self, followee_id: str) -> Iterator[list[str]]:
        """Give the followers in pages, strongly consistent."""


def demote(user_id: str, tables: Tables, settle: Settle, threshold: int, until: str) -> int | None:
    """Settle every follower's timeline; return how many there were, or None if the user is no celebrity."""
    begun = tables.begin_demotion(user_id, until, threshold)
    author = tables.author(user_id)
    if author.since is None:
        return None
    if not begun or author.until is None:
        raise StillCelebrityError(
            f"{user_id} has {author.followers_count} followers and would be promoted again by the next tweet: "
            f"CELEBRITY_THRESHOLD is {threshold}; raise it for all workers first"
        )
    count = 0
    for followers in tables.followers(user_id):
        settle(followers)
        count += len(followers)
    tables.end_demotion(user_id, author.since, author.until)
    return count
