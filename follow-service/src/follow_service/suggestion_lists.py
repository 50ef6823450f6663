"""Which list somebody is read: that of the run, or one that is made online, from Redis or without it.

Rule: Redis may lose anything, be away or hang. Who has no list in the run, and everybody while Redis is away, gets a
list that is made from the tables; the people whom anybody may be suggested stand behind it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from follow_service.lists import Lists
from follow_service.suggestions import Listed
from follow_service.two_hops import two_hops
from murmuration_runtime.errors import RedisAwayError, RedisRefusedError
from murmuration_suggested.layout import ONLINE, Suggestion
from murmuration_suggested.reader import Found
from murmuration_suggested.runs import Run

RUN_SECONDS = 1.0  # for which a process remembers which run counts


class Kept(Protocol):
    """What Redis keeps; each call raises RedisAwayError if it is away."""

    def check(self) -> None:
        """Raise unless it answers."""

    def run(self) -> Run | None:
        """Return the run that counts."""

    def find(self, user_id: str, version: str | None) -> Found:
        """Return what there is for somebody."""

    def keep(self, user_id: str, suggestions: Sequence[Suggestion]) -> None:
        """Keep for a minute what was made online."""


class SuggestionLists:
    """Safe among threads."""

    def __init__(self, kept: Kept | None, lists: Lists, clock: Callable[[], float]) -> None:
        """clock: never steps back."""
        self._kept = kept
        self._lists = lists
        self._clock = clock
        self._run: tuple[float, Run | None] = (float("-inf"), None)

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers and lets us read: this process is ready without it."""
        if self._kept:
            try:
                self._kept.check()
            except RedisRefusedError as error:
                raise RedisAwayError(str(error)) from error

    def version(self) -> str:
        """Return which run counts; nothing if there is none, or Redis is away."""
        if self._kept:
            with suppress(RedisAwayError):
                run = self._counting(self._kept)
                return run.version if run else ""
        return ""

    def find(self, user_id: str, name: str | None) -> Listed:
        """Return somebody's list, by its name if that is there."""
        if self._kept:
            with suppress(RedisAwayError):
                return self._found(self._kept, user_id, name)
        return Listed(ONLINE, self._online(user_id))

    def _found(self, kept: Kept, user_id: str, name: str | None) -> Listed:
        run = self._counting(kept)
        version = run.version if run else None
        wanted = version if name in (None, ONLINE) else name
        found = kept.find(user_id, wanted)
        if found.of_run is None and wanted != version:
            wanted, found = version, kept.find(user_id, version)  # what the cursor is of is gone
        if wanted and found.of_run is not None and not (name == ONLINE and found.online is not None):
            return Listed(wanted, found.of_run)
        online = found.online
        if online is None:
            online = self._online(user_id)
            with suppress(RedisAwayError):
                kept.keep(user_id, online)
        return Listed(ONLINE, online)

    def _counting(self, kept: Kept) -> Run | None:
        until, run = self._run
        if (now := self._clock()) >= until:
            run = kept.run()
            self._run = now + RUN_SECONDS, run
        return run

    def _online(self, user_id: str) -> list[Suggestion]:
        """Make a list from the tables; whom anybody may be suggested is what was last heard of a run."""
        found = two_hops(self._lists, user_id)
        named = {each.user_id for each in found}
        _, run = self._run
        return [*found, *(Suggestion(person) for person in (run.everybody if run else ()) if person not in named)]
