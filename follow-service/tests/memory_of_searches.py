"""A Store of searches in memory, in which nothing expires, and which may be away."""

from follow_service.mutual_searches import from_text, to_text
from murmuration_runtime.errors import RedisAwayError


class MemorySearches:
    """The Store: the texts that Redis would have, and for how many seconds each."""

    def __init__(self):
        self.texts, self.lives, self.is_away = {}, {}, False

    def get(self, pair):
        self._ask()
        return from_text(self.texts[pair]) if pair in self.texts else None

    def put(self, pair, search, seconds):
        self._ask()
        self.texts[pair], self.lives[pair] = to_text(search), seconds

    def _ask(self):
        if self.is_away:
            raise RedisAwayError("this test has taken it away")
