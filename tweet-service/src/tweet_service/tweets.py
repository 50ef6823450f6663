"""What a tweet is, and who may do what with it. Pure: rules and errors, no clock, no I/O.

Rule: a tweet is one row, written once; deleting it marks the row and takes its text, and the table's stream tells
everyone else.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from contracts.ids import is_tweet_id, is_user_id
from tweet_service.audience import Accounts, Author, View


class UnknownTweetError(Exception):
    """There is no such tweet, or no longer, or none that the reader may learn of."""

    def __init__(self, tweet_id: str) -> None:
        super().__init__(f"There is no tweet {tweet_id!r}.")


class NotYoursError(Exception):
    """Only its author deletes a tweet."""


class UnknownAuthorError(Exception):
    """There is no profile with this id, or no longer; or its owner has blocked the reader, which nobody can tell."""

    def __init__(self, author_id: str) -> None:
        super().__init__(f"There is no user {author_id!r}.")


class PrivateAuthorError(Exception):
    """The author is private, and the reader does not follow them."""

    def __init__(self, author_id: str) -> None:
        super().__init__(f"{author_id} is private. Ask to follow them, and try again when they have accepted.")


class BlockedAuthorError(Exception):
    """The reader blocks the author."""

    def __init__(self, author_id: str) -> None:
        super().__init__(f"You block {author_id}. Unblock them first.")


class TakenIdError(Exception):
    """Another tweet has this id."""


@dataclass(frozen=True)
class Tweet:
    """What somebody said, and when."""

    tweet_id: str
    author_id: str
    text: str
    created_at: int


@dataclass(frozen=True)
class Tweets:
    """Some tweets, newest first, and where they go on."""

    tweets: list[Tweet]
    next_cursor: str | None


@dataclass(frozen=True)
class Kept:
    """A row as it is: the tweet, and whether it is deleted; then its text is gone, or has no meaning any more."""

    tweet: Tweet
    deleted: bool

    def is_of(self, tweet: Tweet) -> bool:
        """Whether this is the row of that tweet; of a deleted one all must agree but the text."""
        return self.tweet == (replace(tweet, text=self.tweet.text) if self.deleted else tweet)


@dataclass(frozen=True)
class Claim:
    """Which tweet an idempotency key stands for, and the digest of its text."""

    tweet_id: str
    created_at: int
    digest: str


class Store(Protocol):
    """What the rules need remembered."""

    def claim(self, author_id: str, key: str, claim: Claim) -> Claim:
        """Write the claim unless there is one for this key; return the one that stands."""

    def unclaim(self, author_id: str, key: str, tweet_id: str) -> None:
        """Withdraw the claim if it is for this tweet."""

    def add(self, tweet: Tweet) -> None:
        """Write a new row, or raise TakenIdError."""

    def find(self, tweet_id: str) -> Kept | None:
        """Return the row, strongly consistent."""

    def find_all(self, tweet_ids: Collection[str]) -> Mapping[str, Kept]:
        """Return those of the rows that there are, strongly consistent."""

    def delete(self, tweet_id: str, now: int) -> None:
        """Mark the row and take the text out of it; a mark that is there stays."""

    def by_author(self, author_id: str, limit: int, cursor: str | None) -> Tweets:
        """List an author's undeleted tweets, newest first; a page is short only at the end."""

    def undeleted(self, author_id: str, below: str | None) -> tuple[list[str], str | None]:
        """Return a page of an author's undeleted ids, going down, and below which id the next page begins."""


def read(store: Store, accounts: Accounts, tweet_id: str, reader_id: str) -> Tweet:
    """Return a tweet that is not deleted. Of a private author's, a stranger does not even learn that there is one."""
    return _shown(_known(store, tweet_id), accounts, reader_id)


def read_all(
    store: Store, accounts: Accounts, tweet_ids: Iterable[str], reader_id: str
) -> tuple[list[Tweet], Mapping[str, Author]]:
    """Return those of the tweets that `read` would return, each once, in the order asked; and their authors."""
    wanted = dict.fromkeys(tweet_id for tweet_id in tweet_ids if is_tweet_id(tweet_id))
    found = store.find_all(wanted)
    kept = [found[tweet_id].tweet for tweet_id in wanted if tweet_id in found and not found[tweet_id].deleted]
    authors = accounts.authors({tweet.author_id for tweet in kept}, reader_id)
    return [tweet for tweet in kept if authors[tweet.author_id].view is View.OPEN], authors


def delete(store: Store, accounts: Accounts, tweet_id: str, caller_id: str, now: int) -> None:
    """Delete one's own tweet. Safe to repeat."""
    kept = _known(store, tweet_id)
    if kept.tweet.author_id != caller_id:
        _shown(kept, accounts, caller_id)
        raise NotYoursError("Only its author can delete a tweet.")
    if not kept.deleted:
        store.delete(tweet_id, now)


def said_by(
    store: Store, accounts: Accounts, author_id: str, reader_id: str, limit: int, cursor: str | None
) -> tuple[Tweets, Author]:
    """List what somebody said, newest first; and return who they are."""
    author = accounts.authors([author_id], reader_id)[author_id] if is_user_id(author_id) else Author()
    if author.profile is None or author.view is View.GONE:
        raise UnknownAuthorError(author_id)
    if author.view is View.BLOCKED:
        raise BlockedAuthorError(author_id)
    if author.view is View.PRIVATE:
        raise PrivateAuthorError(author_id)
    return store.by_author(author_id, limit, cursor), author


def _shown(kept: Kept, accounts: Accounts, reader_id: str) -> Tweet:
    tweet = kept.tweet
    author = Author(deleted=True) if kept.deleted else accounts.authors([tweet.author_id], reader_id)[tweet.author_id]
    if author.view is View.BLOCKED and not author.is_private:
        raise BlockedAuthorError(tweet.author_id)
    if author.view is not View.OPEN:
        raise UnknownTweetError(tweet.tweet_id)
    return tweet


def _known(store: Store, tweet_id: str) -> Kept:
    kept = store.find(tweet_id) if is_tweet_id(tweet_id) else None
    if kept is None:
        raise UnknownTweetError(tweet_id)
    return kept
