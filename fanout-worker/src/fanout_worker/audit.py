"""Warm timelines against the tables: which of them lack a tweet, or are wrong about whom they show.

Rule: look; wait until whatever was committed before is delivered (murmuration_worker.zero_lag); look again. What both
looks show, and nobody wrote whom the timeline shows in between, which its edition tells, is no event on its way. Then
the rows themselves are asked, because indexes lag without a bound; only for somebody who is shown, and whom no index
names, there is no row to ask for. A timeline that differs is made cold: nobody sees again what is known to be wrong,
and the next read builds it anew.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Protocol

from contracts.ids import first_id
from murmuration_timelines.celebrities import Author
from murmuration_timelines.layout import CAP, SLACK
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.sampled_timelines import Owner
from murmuration_timelines.shown import Shown

ROUNDS = 3  # an account whose follows change between all looks is left to the next run
ASKED = 50  # rows that are asked for of one timeline: the first that proves a difference is enough
_log = logging.getLogger(__name__)


class Follows(Protocol):
    """Who follows whom."""

    def followed_by(self, user_id: str) -> frozenset[str]:
        """Return whom the user follows, by an index that may lag."""

    def followers_among(self, followee_id: str, user_ids: Collection[str]) -> set[str]:
        """Return who of some users follows somebody, strongly consistent."""


class Mutes(Protocol):
    """Who has muted whom."""

    def muted(self, user_id: str) -> frozenset[str]:
        """Return whom the user has muted, strongly consistent."""


class Tweets(Protocol):
    """What was said."""

    def between(self, author_id: str, floor: str, top: str) -> Iterable[str]:
        """Give the author's undeleted ids from one to another, newest first, by an index that may lag."""

    def author_of(self, tweet_id: str) -> str | None:
        """Return who said it, strongly consistent; None if it is deleted, or never was."""


class Celebrities(Protocol):
    """Whose tweets are not pushed."""

    def celebrities(self) -> Collection[str]:
        """Return who is a celebrity, by an index that may lag."""

    def author(self, user_id: str) -> Author:
        """Return what decides how an author's tweets travel, strongly consistent."""


@dataclass(frozen=True)
class Look:
    """What differs at one look, and the edition of whom the timeline shows."""

    edition: str
    missing: frozenset[tuple[str, str]] = frozenset()  # author, tweet
    hidden: frozenset[str] = frozenset()  # who should show
    strange: frozenset[bytes] = frozenset()  # digests of those who should not
    is_disordered: bool = False

    @property
    def differs(self) -> bool:
        """Tell whether anything does."""
        return bool(self.missing or self.hidden or self.strange or self.is_disordered)

    def both(self, later: "Look") -> "Look":
        """Return what a later look shows, too."""
        return Look(
            later.edition,
            self.missing & later.missing,
            self.hidden & later.hidden,
            self.strange & later.strange,
            self.is_disordered and later.is_disordered,
        )


@dataclass
class Summary:
    """What was found."""

    checked: int = 0
    differed: list[Owner] = field(default_factory=list)
    busy: list[Owner] = field(default_factory=list)

    def told(self) -> dict[str, object]:
        """Return how many of each there are, and the first of those that differed."""
        users = [owner.user_id for owner in self.differed[:100]]
        return {"checked": self.checked, "differed": len(self.differed), "busy": len(self.busy), "users": users}


class Audit:
    """One run over some timelines."""

    def __init__(
        self,
        timelines: TimelineReader,
        follows: Follows,
        mutes: Mutes,
        tweets: Tweets,
        celebrities: Celebrities,
        *,
        wait: Callable[[], object],
        make_cold: Callable[[str], object],
        before_query: Callable[[], object] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """wait: returns when all that was committed before is delivered. before_query: limits the rate."""
        self._timelines = timelines
        self._follows = follows
        self._mutes = mutes
        self._tweets = tweets
        self._celebrities = celebrities
        self._wait = wait
        self._make_cold = make_cold
        self._before_query = before_query
        self._now = now

    def run(self, owners: Iterable[Owner]) -> Summary:
        """Compare these timelines with the tables, as far as they are warm, and make cold what differs."""
        pending = [*dict.fromkeys(owners)]
        summary = Summary(len(pending))
        for _ in range(ROUNDS):
            looks = {owner: look for owner in pending if (look := self._look(owner)) and look.differs}
            if not looks:
                return summary
            self._wait()
            pending = [owner for owner, look in looks.items() if not self._is_settled(owner, look, summary)]
        summary.busy = pending
        return summary

    def _is_settled(self, owner: Owner, before: Look, summary: Summary) -> bool:
        """Judge by a second look; False if somebody wrote whom the timeline shows between the two."""
        now = self._look(owner)
        if now is None or not now.differs:
            return True
        if now.edition != before.edition:
            return False
        if found := self._proof(owner, before.both(now)):
            summary.differed.append(owner)
            _log.error(
                "a timeline differs from the tables; it is made cold",
                extra={"user_id": owner.user_id, "timeline": "author" if owner.is_author else "home", "reason": found},
            )
            self._make_cold(owner.user_id)
        return True

    def _look(self, owner: Owner) -> Look | None:
        """Compare a timeline with the tables; None if it is cold. The timeline is read first: it is only behind."""
        top = first_id(int(self._now() * 1000))
        kind = self._timelines.authors if owner.is_author else self._timelines.home
        timeline = kind.load([owner.user_id], renew=False).get(owner.user_id)
        if timeline is None or timeline.head is None:
            return None
        authors = self._authors(owner)
        pushed = authors if owner.is_author else authors - {*self._celebrities.celebrities()}
        return Look(
            timeline.head.edition,
            frozenset(self._missing(timeline, pushed, top)),
            frozenset(each for each in authors if each not in timeline.shown),
            timeline.shown.each() - Shown.of(authors).each(),
            not _descends([*timeline.ids, timeline.floor]),
        )

    def _authors(self, owner: Owner) -> frozenset[str]:
        """Return whom the timeline should show."""
        if owner.is_author:
            return frozenset({owner.user_id})
        self._before_query()
        followees = self._follows.followed_by(owner.user_id)
        return followees - self._mutes.muted(owner.user_id) | {owner.user_id}

    def _missing(self, timeline: Timeline, authors: Iterable[str], top: str) -> Iterable[tuple[str, str]]:
        there = {*timeline.ids}
        for author_id in authors:
            self._before_query()
            said = islice(self._tweets.between(author_id, timeline.floor, top), CAP + SLACK)
            yield from ((author_id, tweet_id) for tweet_id in said if tweet_id not in there)

    def _proof(self, owner: Owner, found: Look) -> str:
        """Say what differs by the rows themselves; nothing if it was an index that lagged."""
        if found.is_disordered:
            return "its ids do not descend"
        if found.strange:
            return f"it shows {len(found.strange)} users whom its reader does not follow, or has muted"
        for author_id in islice(sorted(found.hidden), ASKED):
            if self._shows(owner, author_id):
                return f"it does not show {author_id}, whom its reader follows"
        for author_id, tweet_id in islice(sorted(found.missing), ASKED):
            if self._tweets.author_of(tweet_id) == author_id and self._is_pushed(owner, author_id):
                return f"it lacks {tweet_id} of {author_id}, and {len(found.missing) - 1} more"
        return ""

    def _is_pushed(self, owner: Owner, author_id: str) -> bool:
        """Tell whether what an author says belongs into the list, by the rows; a rebuild leaves out who departed."""
        if owner.is_author:
            return True
        author = self._celebrities.author(author_id)
        return author.since is None and not author.is_departed and self._shows(owner, author_id)

    def _shows(self, owner: Owner, author_id: str) -> bool:
        if author_id == owner.user_id:
            return True
        is_followed = self._follows.followers_among(author_id, [owner.user_id])
        return bool(is_followed) and author_id not in self._mutes.muted(owner.user_id)


def _descends(ids: Sequence[str]) -> bool:
    """Tell whether each id is below the one before; the last may be repeated, where the list ends in its floor."""
    whole = ids[:-1] if ids[-2:-1] == ids[-1:] else ids
    return all(above > below for above, below in pairwise(whole))
