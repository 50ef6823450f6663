"""What reading needs of its stores: a cache that may forget anything at any time, a database that has it all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from timeline_service.timeline import Run, Timeline, Tweet


class Timelines(Protocol):
    """One kind of cached timeline: whom somebody follows, or an author alone."""

    def load(self, owner_ids: Iterable[str], count: int | None = None) -> dict[str, Timeline]:
        """Return the warm ones, by owner, in one round trip; with a count, about so many of the newest ids of each."""

    def begin(self, owner_id: str) -> str | None:
        """Mark a rebuild and return its token; None if another rebuild is in progress, or was faster."""

    def renew(self, owner_id: str, token: str, *, look_again: bool = False) -> bool:
        """Let the mark live on for another while; False if it is gone. Looking again, forget that a follow changed."""

    def commit(self, owner_id: str, token: str, timeline: Timeline) -> bool:
        """Put the timeline in its place, among what arrived; False if a follow changed, or the mark is gone."""


class Cache(Protocol):
    """Timelines, recent tweets and bodies."""

    @property
    def home(self) -> Timelines:
        """The home timelines of readers."""

    @property
    def authors(self) -> Timelines:
        """Celebrities' own tweets, which readers merge."""

    def noted(self, user_id: str) -> Iterable[str]:
        """Return the followees whose edge changed lately: an index may not know yet."""

    def recent(self, author_ids: Iterable[str]) -> list[str]:
        """Return the latest ids of these authors, in no order: an index may not have them yet."""

    def bodies(self, tweet_ids: Sequence[str]) -> tuple[dict[str, Tweet | None], dict[str, str]]:
        """Return what is known of these tweets, None for a deleted one; and of the others a right to fill each."""

    def fill(self, rights: Mapping[str, str], tweets: Mapping[str, Tweet]) -> None:
        """Remember what the table said after the rights were given: these tweets, and that the others are gone."""


class Archive(Protocol):
    """The database."""

    def followees(self, user_id: str, noted: Iterable[str] = ()) -> frozenset[str]:
        """Return whom the user follows: by the index, which may lag, but for the noted ones by the table itself."""

    def ids(self, below: Mapping[str, str], count: int) -> dict[str, Run]:
        """Return for each author so many undeleted tweets below an id of theirs, by an index that may lag."""

    def tweets(self, tweet_ids: Iterable[str]) -> dict[str, Tweet]:
        """Return those of the tweets that are not deleted, strongly consistent."""
