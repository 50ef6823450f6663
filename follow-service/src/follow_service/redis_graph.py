"""What is kept in the Redis of the graph, as far as this process may rest on it: wiring."""

from collections.abc import Callable

from follow_service.kept_pages import Count, KeptPages
from follow_service.kept_topics import PARTITIONS, SETTLED
from follow_service.kept_trust import KeptTrust
from follow_service.redis_cache import RedisCache
from follow_service.redis_mutuals import RedisSearches
from follow_service.redis_pages import RedisPages
from follow_service.settled_cache import SettledCache
from murmuration_runtime.redis_nodes import Nodes
from murmuration_runtime.redis_settled import RedisSettled
from murmuration_runtime.settled_mark import SettledMark


class RedisGraph:
    """Profiles and lists, pages of suggestions, until when they are settled; and searches, which the tables confirm."""

    def __init__(self, nodes: Nodes, now: Callable[[], float], count: Count) -> None:
        self._settled = RedisSettled(nodes, SETTLED, PARTITIONS)
        self.mark = SettledMark(self._read, now)
        self.trust = KeptTrust(self.mark, now)
        self.cache = SettledCache(RedisCache(nodes), self.trust.is_settled)
        self.searches = RedisSearches(nodes)
        self.pages = KeptPages(RedisPages(nodes), self.trust.is_settled, count)

    def _read(self) -> int:
        """Whoever is gone until then is known with it."""
        until = self._settled.until()
        self.pages.refresh()
        return until
