"""A page's authors, asked about in the tables while it is not known that edges are settled in Redis.

Rule: nobody is shown of whom the tables do not say now that they are followed, and not muted. Each author is asked
about once a page, and so many at most. What was read from the tables for a rebuild, or for a page far down, is
confirmed in any case: a request may have joined it when it was half a minute old, and only what is warm is kept right.

While DynamoDB does not answer there is nothing to ask, and nobody can leave either. So what was settled well enough
when it was last heard is shown as it is: only who left in the seconds before that can be among it. Anything else is
refused, for the same request may be answered soon. DynamoDB that is too busy or refuses this process answers others; so
does one that is silent here while edges are settled until well after we last heard it: people leave.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from murmuration_runtime.errors import StoreAwayError, StoreBusyError, StoreRefusedError
from murmuration_runtime.settled_mark import SettledMark
from murmuration_timelines.tweets import Tweet

MOST = 1_000  # authors that are asked about for a page
AT_ONCE = 100  # tweets that are looked at together when many of the first ones do not show


class Edges(Protocol):
    """Whom everybody reads, by the tables themselves."""

    def read_by(self, user_id: str, author_ids: Collection[str]) -> set[str]:
        """Return whom of these a user follows and has not muted, strongly consistent."""


class UnconfirmedError(Exception):
    """More authors would have to be asked about than are for one page; soon there will be no need to."""

    retry_after_seconds = 2


class Confirmation:
    """The authors of one page. One thread uses it."""

    def __init__(
        self, user_id: str, read_by: Callable[[str, Collection[str]], set[str]], may_rest: Callable[[], bool]
    ) -> None:
        """may_rest: whether what Redis says will do while the tables do not answer."""
        self._user_id = user_id
        self._read_by = read_by
        self._may_rest = may_rest
        self._shown = {user_id}
        self._asked = {user_id}
        self.outcome = "same"

    def keep(self, tweets: Sequence[Tweet]) -> list[Tweet]:
        """Return those of the tweets whose authors show."""
        if new := dict.fromkeys(tweet.author_id for tweet in tweets if tweet.author_id not in self._asked):
            self._ask([*new])
        return [tweet for tweet in tweets if tweet.author_id in self._shown]

    def _ask(self, author_ids: Sequence[str]) -> None:
        self._asked.update(author_ids)
        if len(self._asked) > MOST:
            self.outcome = "refused"
            raise UnconfirmedError(f"more than {MOST} authors of a page are to be confirmed")
        shown = {*author_ids} if self.outcome == "unanswered" else self._answer(author_ids)
        self._shown |= shown
        if len(shown) < len(author_ids):
            self.outcome = "left"

    def _answer(self, author_ids: Sequence[str]) -> set[str]:
        try:
            return self._read_by(self._user_id, author_ids)
        except StoreAwayError as error:
            is_silent = not isinstance(error, StoreBusyError | StoreRefusedError)
            self.outcome = "unanswered" if is_silent and self._may_rest() else "refused"
            if self.outcome == "refused":
                raise
            return {*author_ids}


class Confirming:
    """What pages ask before they show anybody. Safe among threads."""

    def __init__(
        self,
        mark: SettledMark,
        edges: Edges,
        heard_at: Callable[[], float],
        count_page: Callable[[str], object],
    ) -> None:
        """heard_at: when (s) DynamoDB last answered. count_page: is told what came of each page that was confirmed.

        That is same, left if somebody was left out, unanswered if DynamoDB was, or refused.
        """
        self._mark = mark
        self._edges = edges
        self._heard_at = heard_at
        self._count_page = count_page

    def begin(self, user_id: str) -> Confirmation | None:
        """Return what confirms a page of a warm timeline; None if there is no need to."""
        return None if self._mark.is_fresh() else Confirmation(user_id, self._edges.read_by, self._may_rest)

    def insist(self, user_id: str) -> Confirmation:
        """Return what confirms a page that no warm timeline gives: what Redis says is not what it shows."""
        return Confirmation(user_id, self._edges.read_by, lambda: False)

    def end(self, confirmation: Confirmation) -> None:
        """Tell what came of a page."""
        self._count_page(confirmation.outcome)

    def _may_rest(self) -> bool:
        return self._mark.was_fresh_when(self._heard_at())
