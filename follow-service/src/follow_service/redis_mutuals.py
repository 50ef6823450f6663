"""What is kept of searches for mutual followers, in Redis: one key for each pair."""

from follow_service.mutual_searches import Pair, Search, from_text, key, to_text
from murmuration_runtime.redis_nodes import Nodes


class RedisSearches:
    """The Store of searches. Safe among threads."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def get(self, pair: Pair) -> Search | None:
        with self._nodes.errors_named():
            text = self._nodes.command("GET", key(pair))
        return from_text(text) if text else None

    def put(self, pair: Pair, search: Search, seconds: int) -> None:
        with self._nodes.errors_named():
            self._nodes.command("SET", key(pair), to_text(search), "EX", seconds)
