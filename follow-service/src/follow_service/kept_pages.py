"""Pages of suggestions that were looked up, kept for who asks again: keys, texts, and which of them hold. Pure: no I/O.

| key | type | content | lives |
|---|---|---|---|
| `suggestions:{USER}` | hash | "!": a mark; RUN CURSOR LIMIT: what USER was answered to that | 10 minutes |
| `gone` | sorted set | who deleted their account, or after a "/" hides, by when we heard of it (ms) | 11 minutes |

Rule: who looks a page up takes the reader's mark first, or sets one, and keeps the page if that mark still stands. Each
change of what a reader does, or has done to them, drops all that is kept for them, the mark too. A dismissal does so
at once; the keeper does for all else, so pages are shown only while what it hears is known to be settled.
Rule of those who are gone: they may be in anybody's page. So every process knows whom the keeper noted, and a page that
names one who was noted since it was looked up is looked up anew. Who only hides may go on to be named as a reason.
Rule of age: nothing is renewed. What was made online is shown for a minute, as the list that it came from.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from follow_service.people import Seen
from murmuration_runtime import deadlines
from murmuration_runtime.errors import RedisAwayError
from murmuration_suggested.layout import ONLINE, ONLINE_SECONDS

SECONDS = 600  # that pages are kept
GONE_SECONDS = SECONDS + 60
FORGET_SECONDS = 60  # after which a process forgets whom nobody's page can name any more
MOST = 30  # pages of a reader
CLOCKS_MS = 2_000  # that two nodes of Redis may differ by
LOOKS_AT_ONCE = 64
GONE = "gone"
HIT, MISS, AWAY = "hit", "miss", "away"
Count = Callable[[str, str, int], None]


class Asked(NamedTuple):
    """What a page is an answer to, besides who asked."""

    run: str
    cursor: str
    limit: int


@dataclass(frozen=True)
class Answered:
    """A page as a reader gets it, who is named, the suggested first, and these people if they were just looked at."""

    body: str
    rest: str | None
    source: str
    named: Sequence[str]
    suggested: int
    people: Sequence[Seen] | None = None


@dataclass(frozen=True)
class Opened:
    """What there is for a reader: the time (ms), the mark, and the page as a text."""

    now: int
    mark: str
    text: str | None


class Pages(Protocol):
    """Where pages are. Each call may raise RedisAwayError, and anything kept may be forgotten at any time."""

    def open(self, user_id: str, asked: Asked) -> Opened:
        """Return a reader's page, and their mark: a new one if there is none."""

    def commit(self, user_id: str, asked: Asked, mark: str, text: str) -> None:
        """Keep a page that was looked up since the mark, if that still stands."""

    def drop(self, user_ids: Iterable[str]) -> None:
        """Forget all that is kept for these, their marks too."""

    def note_gone(self, members: Iterable[str]) -> None:
        """Note that nobody is to be suggested these any more, nor named, or only `hiding`."""

    def gone(self, since: int) -> tuple[int, Sequence[tuple[str, int]]]:
        """Return the time (ms), and who was noted since one, and when, the earliest first; some thousands at most."""


class KeptPages:
    """Pages for requests. Safe among threads."""

    def __init__(self, pages: Pages | None, is_settled: Callable[[], bool], count: Count = lambda *_: None) -> None:
        """is_settled: whether what the keeper heard is. Without pages each is looked up."""
        self._pages = pages
        self._is_settled = is_settled
        self._count = count
        self._looking = [threading.Lock() for _ in range(LOOKS_AT_ONCE)]
        self._gone: dict[str, int] = {}
        self._heard = self._forgot = 0
        self._owed: set[str] = set()

    def answer(self, user_id: str, asked: Asked, look: Callable[[], Answered]) -> Answered:
        """Return a page that is kept, or look it up; where it can be kept, who asks meanwhile waits for that."""
        opened, kept = self._open(user_id, asked)
        if kept:
            return kept
        if not opened:  # nothing can be kept, so whoever waited would have to look, too
            return look()
        with deadlines.turn(self._looking[hash((user_id, asked)) % LOOKS_AT_ONCE], "looks this page up") as waited:
            if waited:
                opened, kept = self._open(user_id, asked)
            found = kept or look()
        if self._pages and opened and not kept:
            with suppress(RedisAwayError):
                self._pages.commit(user_id, asked, opened.mark, to_text(opened.now, found))
        return found

    def drop(self, user_id: str) -> None:
        """Have everybody look anew for this reader; where Redis is away, as soon as it is back."""
        if self._pages:
            self._drop(self._pages, {user_id})

    def refresh(self) -> None:
        """Drop what could not be dropped, and hear who is gone."""
        if self._pages is None:
            return
        owed, self._owed = self._owed, set()
        self._drop(self._pages, owed)
        now, told = self._pages.gone(since := self._heard - CLOCKS_MS)
        while told:
            self._gone.update(told)
            if told[-1][1] <= since:
                break
            _, told = self._pages.gone(since := told[-1][1])
        self._heard = now
        if now - self._forgot >= FORGET_SECONDS * 1000:
            kept_since = now - GONE_SECONDS * 1000
            self._gone = {user_id: at for user_id, at in self._gone.items() if at >= kept_since}
            self._forgot = now

    def _open(self, user_id: str, asked: Asked) -> tuple[Opened | None, Answered | None]:
        if self._pages is None:
            return None, None
        outcome, opened, kept = AWAY, None, None
        if self._is_settled():
            with suppress(RedisAwayError):
                opened = self._pages.open(user_id, asked)
                kept = self._held(opened)
                outcome = HIT if kept else MISS
        self._count("suggestions", outcome, 1)
        return opened, kept

    def _held(self, opened: Opened) -> Answered | None:
        if opened.text is None:
            return None
        looked_at, answer = from_text(opened.text)
        too_old = answer.source == ONLINE and opened.now - looked_at > ONLINE_SECONDS * 1000
        since, suggested = looked_at - CLOCKS_MS, map(hiding, answer.named[: answer.suggested])
        is_gone = any(self._gone.get(each, 0) >= since for each in (*answer.named, *suggested))
        return None if too_old or is_gone else answer

    def _drop(self, pages: Pages, user_ids: set[str]) -> None:
        try:
            if user_ids:
                pages.drop(user_ids)
        except RedisAwayError:
            self._owed |= user_ids


def to_text(looked_at: int, answer: Answered) -> str:
    """Write a page, and when it was looked up."""
    return f"{looked_at} {answer.source} {answer.rest or ''} {answer.suggested} {','.join(answer.named)}\n{answer.body}"


def from_text(text: str) -> tuple[int, Answered]:
    """Read it."""
    head, _, body = text.partition("\n")
    looked_at, source, rest, suggested, named = head.split(" ")
    return int(looked_at), Answered(body, rest or None, source, named.split(",") if named else [], int(suggested))


def hiding(user_id: str) -> str:
    """Name somebody who hides from suggestions, as `gone` has them; no id of a user has a slash."""
    return f"/{user_id}"


def pages_key(user_id: str) -> str:
    """Name what is kept for a reader."""
    return f"suggestions:{{{user_id}}}"


def field_of(asked: Asked) -> str:
    """Name a page of theirs."""
    return f"{asked.run} {asked.cursor} {asked.limit}"
