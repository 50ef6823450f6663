"""Who is too well known to be fanned out. Pure: no clock, no I/O.

Rule: the tweets of a celebrity from the id `since` on are not pushed; readers merge all of a celebrity's tweets, from
the author's own timeline. `since` lies in the future when it is written, so that every reader knows before the first
tweet that is not pushed. `until` says that a demotion has begun: whoever sees it pushes again, whatever the id. To push
too much is harmless; so only what is not pushed needs a strong read of the author.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Author:
    """What decides how an author's tweets travel."""

    followers_count: int = 0
    since: str | None = None
    until: str | None = None
    is_departed: bool = False

    def is_pushed(self, tweet_id: str) -> bool:
        """Tell whether a tweet of this author goes into the followers' timelines."""
        return self.since is None or self.until is not None or int(tweet_id) < int(self.since)
