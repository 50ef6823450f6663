"""What a shard's stream answers, page by page, and the next page ahead. Stdlib only."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Protocol

from cdc_bridge.translate import Record

FULL_PAGE = 1000  # GetRecords never answers more


class GapError(Exception):
    """The stream no longer has what comes next; asking again changes nothing."""


class TrimmedError(GapError):
    """What comes next is older than the stream keeps: it is lost, or there was nothing."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one call answered."""

    records: Sequence[Record]
    last: bool  # the shard is closed and nothing follows these records


class Pages(Protocol):
    """One shard's pages in order; dynamo_streams.ShardPages."""

    def read(self, after: str | None) -> Page:
        """Read the next page; a first call begins after this sequence number, None being the beginning."""

    def is_closed(self) -> bool:
        """Say whether nothing is written to the shard any more."""


class PagesAhead:
    """One shard's pages, of which the next may be fetched by another thread; each with the time when it was asked."""

    def __init__(self, pages: Pages, threads: Executor, clock: Callable[[], int]) -> None:
        self._pages = pages
        self._threads = threads
        self._clock = clock
        self._ahead: tuple[Future[Page], int] | None = None

    def fetch(self, after: str | None) -> None:
        """Let a free thread read the next page."""
        asked_at = self._clock()  # before: what was committed later may not be in the answer
        self._ahead = self._threads.submit(self._pages.read, after), asked_at

    def read(self, after: str | None) -> tuple[Page, int]:
        """Return the next page, or raise what its reading raised."""
        fetched, self._ahead = self._ahead, None
        if fetched is None or fetched[0].cancel():  # no thread was free so far
            return self._read(after)
        page, asked_at = fetched
        return page.result(), asked_at

    def _read(self, after: str | None) -> tuple[Page, int]:
        asked_at = self._clock()
        return self._pages.read(after), asked_at
