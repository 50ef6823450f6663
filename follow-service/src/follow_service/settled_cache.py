"""What is kept of people and of their lists, as far as it is known to be right. Pure: no I/O.

Rule: what is kept is as late as the bridge and the keeper are. While it is not known that it is settled to within some
seconds, it is as if it were away: the tables say what is shown, and a block holds whatever stands still. What people
change of their own accounts is kept all the same.
"""

from collections.abc import Callable, Collection

from follow_service.cache import Cache, Kind, Known, Newest
from murmuration_runtime.errors import RedisAwayError


class SettledCache:
    """The Cache of requests."""

    def __init__(self, cache: Cache, is_settled: Callable[[], bool]) -> None:
        self._cache = cache
        self._is_settled = is_settled
        self.keep, self.tell = cache.keep, cache.tell
        self.begin, self.commit = cache.begin, cache.commit
        self.note, self.agree = cache.note, cache.agree

    def look(self, viewer_id: str, user_ids: Collection[str]) -> Known:
        """Return what is kept, if it is settled."""
        self._check()
        return self._cache.look(viewer_id, user_ids)

    def newest(self, kind: Kind, owner_id: str, most: int) -> Newest | None:
        """Return the newest of a kept list, if it is settled."""
        self._check()
        return self._cache.newest(kind, owner_id, most)

    def _check(self) -> None:
        if not self._is_settled():
            raise RedisAwayError("it is not known that what is kept is settled")
