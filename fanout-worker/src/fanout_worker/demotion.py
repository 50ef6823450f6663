"""A celebrity becomes an author like any other.

Rule: first the author's row says that a demotion has begun, and whoever sees that pushes every tweet again. A worker
adds a tweet to the recent ones before it looks its author up; so those that were not pushed are among these or in the
index by now, and every follower's timeline is made to hold them. Only then does the row cease to say that readers must
merge. An end anywhere in between leaves a celebrity whose tweets are pushed too, and the next run begins again.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from fanout_worker.deliveries import Celebrities


class StillCelebrityError(Exception):
    """Somebody has so many followers that their next tweet would promote them again."""


class Demotable(Celebrities, Protocol):
    """The row that says who is a celebrity."""

    def begin_demotion(self, user_id: str, until: str, threshold: int) -> bool:
        """Have all tweets of a celebrity pushed again; False if they are none, or have the followers of one."""

    def end_demotion(self, user_id: str, since: str, until: str) -> bool:
        """Make somebody a celebrity no longer; False if another demotion has ended this one's."""


def demote(
    user_id: str,
    celebrities: Demotable,
    followers: Callable[[str], Iterable[list[str]]],
    refresh: Callable[[list[str]], object],
    *,
    threshold: int,
    until: str,
) -> int | None:
    """Refresh every follower's timeline; return how many there were, or None if the user is no celebrity."""
    begun = celebrities.begin_demotion(user_id, until, threshold)
    author = celebrities.author(user_id)
    if author.since is None:
        return None
    if not begun or author.until is None:
        raise StillCelebrityError(
            f"{user_id} has {author.followers_count} followers and would be promoted again by the next tweet: "
            f"CELEBRITY_THRESHOLD is {threshold}; raise it for all workers first"
        )
    count = 0
    for page in followers(user_id):
        refresh(page)
        count += len(page)
    celebrities.end_demotion(user_id, author.since, author.until)
    return count
