"""Far down, a page costs a query for each author followed; what those bring beyond it is kept for the pages below.

Rule: such a read stands in the same queue as the rebuilds, and of each reader one is under way in a process. It goes on
when its request is over, so the next request finds what was read.
"""

from murmuration_timelines.merge import Run
from murmuration_timelines.read_ahead import authors_name
from timeline_service.builder import Builder
from timeline_service.rebuild_slots import BusyError


class DeepPages:
    """Runs of ids from the database, some of them read for an earlier page. Safe among threads."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def run(self, user_id: str, authors: frozenset[str], below: str, count: int) -> Run:
        """Return what lies below an id, about so much of it."""
        if kept := self._builder.ahead.find(user_id, authors, below):
            return kept
        read = self._builder.far_down(user_id, authors, below, count)
        if part := read.part(authors_name(authors), below):
            return part
        raise BusyError("another page of this reader is being read from the database")
