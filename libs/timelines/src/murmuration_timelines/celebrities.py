"""Who is too well known to be fanned out. Pure: no clock, no I/O.

Rule: the tweets of a celebrity from the id `since` on are not pushed; readers merge them. `since` lies in the future
when it is written, so that every reader knows before the first tweet that is not pushed. `until` says that a demotion
has begun: whoever sees it pushes again, whatever the id. To push too much is harmless; so only what is not pushed needs
a strong read.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Author:
    """What decides how an author's tweets travel."""

    followers_count: int = 0
    since: str | None = None
    until: str | None = None


def is_pushed(tweet_id: str, since: str | None, until: str | None) -> bool:
    """Tell whether a tweet goes into its followers' timelines."""
    return since is None or until is not None or int(tweet_id) < int(since)
