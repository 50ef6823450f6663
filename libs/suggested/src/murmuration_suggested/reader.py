"""What an edge reads, and the little that it writes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from murmuration_runtime.redis_nodes import Nodes
from murmuration_suggested import layout
from murmuration_suggested.layout import Suggestion, from_text, to_text
from murmuration_suggested.runs import Run
from murmuration_suggested.scripts import FIND, NOTE, WRITE

SECONDS = 0.5  # that a request waits for it: time is left to do without


@dataclass(frozen=True)
class Found:
    """What there is for somebody: of a run, and made online."""

    of_run: Sequence[Suggestion] | None
    online: Sequence[Suggestion] | None


class SuggestedReader:
    """Safe among threads."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us read."""
        self._nodes.check(self.run)

    def run(self) -> Run | None:
        """Return the run that counts."""
        return self._note(layout.RUN)

    def refused(self) -> Run | None:
        """Return the last run that was refused, if none was accepted since."""
        return self._note(layout.REFUSED)

    def find(self, user_id: str, version: str | None) -> Found:
        """Return what there is for somebody in this version of a run, and besides, in one call."""
        keys = layout.suggested(user_id, version or ""), layout.suggested(user_id, layout.ONLINE)
        with self._nodes.errors_named():
            of_run, online = self._nodes.call(FIND, keys, ())
        return Found(_read(of_run), _read(online))

    def keep(self, user_id: str, suggestions: Iterable[Suggestion]) -> None:
        """Keep for a minute what was made online."""
        key = layout.suggested(user_id, layout.ONLINE)
        with self._nodes.errors_named():
            self._nodes.gather(WRITE, (layout.ONLINE_SECONDS,), [(key, to_text(suggestions))])

    def _note(self, key: str) -> Run | None:
        with self._nodes.errors_named():
            text = self._nodes.call(NOTE, [key], ())
        return Run.from_text(text) if text else None


def _read(text: str | None) -> Sequence[Suggestion] | None:
    return None if text is None else from_text(text)


def connect(url: str, **options: Any) -> Nodes:
    """Make a client for one whom somebody waits for."""
    return Nodes(url, connect_timeout=SECONDS, timeout=SECONDS, **options)
