"""Pages of suggestions in the Redis of the graph."""

import uuid
from collections.abc import Iterable
from functools import partial

from follow_service import kept_pages
from follow_service.kept_pages import Asked, Opened, field_of, pages_key
from murmuration_runtime.redis_nodes import Nodes, Script

_script = partial(Script, "follow_service")
OPEN = _script("open_page.lua")
COMMIT = _script("commit_page.lua")
DROP = _script("drop.lua")
NOTE_GONE = _script("note_gone.lua")
READ_GONE = _script("read_gone.lua")
AT_ONCE = 5_000  # of those who are gone


class RedisPages:
    """The Pages. Safe among threads."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def open(self, user_id: str, asked: Asked) -> Opened:
        args = field_of(asked), uuid.uuid4().hex, kept_pages.SECONDS
        with self._nodes.errors_named():
            return Opened(*self._nodes.call(OPEN, [pages_key(user_id)], args))

    def commit(self, user_id: str, asked: Asked, mark: str, text: str) -> None:
        args = mark, field_of(asked), text, kept_pages.MOST
        with self._nodes.errors_named():
            self._nodes.call(COMMIT, [pages_key(user_id)], args)

    def drop(self, user_ids: Iterable[str]) -> None:
        with self._nodes.errors_named():
            self._nodes.gather(DROP, (), [(pages_key(user_id),) for user_id in user_ids])

    def note_gone(self, members: Iterable[str]) -> None:
        with self._nodes.errors_named():
            self._nodes.call(NOTE_GONE, [kept_pages.GONE], (kept_pages.GONE_SECONDS, *members))

    def gone(self, since: int) -> tuple[int, list[tuple[str, int]]]:
        with self._nodes.errors_named():
            now, told = self._nodes.call(READ_GONE, [kept_pages.GONE], (since, AT_ONCE))
        return now, [(user_id, int(at)) for user_id, at in zip(told[::2], told[1::2], strict=True)]
