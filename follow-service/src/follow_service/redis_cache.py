"""What is kept of people and of their lists, in Redis: each call is one to each of its nodes that has something of it.

Rule: the Lua scripts alone change what is there, and each is atomic on its node.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from follow_service import cache
from follow_service.cache import Fill, Kind, Known, Member, Newest, State, from_text, list_key, noted_key, profile_key
from follow_service.lists import Row
from murmuration_runtime.redis_connection import RedisConnection
from murmuration_runtime.redis_nodes import Argument, Item, Nodes, Script

_script = partial(Script, "follow_service")
LOOK = _script("look_up.lua")
NEWEST = _script("newest.lua")
PUT = _script("put_profiles.lua")
BEGIN = _script("begin_fill.lua")
COMMIT = _script("commit_fill.lua")
NOTE = _script("note_changes.lua", keys=2)
AGREE = _script("agree_changes.lua")
SECONDS = 0.25  # that Redis may take: the tables know it all


class RedisCache:
    """The Cache. Safe among threads."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def check(self) -> None:
        """Raise RedisAwayError unless Redis answers, and RedisRefusedError unless it lets us read."""
        self._nodes.check(lambda: self.newest(Kind.FOLLOWERS, "-", 1))

    def look(self, viewer_id: str, user_ids: Collection[str]) -> Known:
        asked = [*user_ids]
        profiles = {profile_key(user_id): user_id for user_id in asked}
        blocks = {list_key(kind, viewer_id): kind for kind in (Kind.BLOCKING, Kind.BLOCKED)}
        items: list[Item] = [*((key, "p") for key in profiles), *((key, "b") for key in blocks)]
        with self._nodes.errors_named():
            answers = self._nodes.gather(LOOK, (len(asked), *asked), items)
        states: dict[str, State] = {}
        lists: dict[Kind, Any] = {}
        for some, answer in answers:
            for (key, _), found in zip(some, answer, strict=True):
                if key in blocks:
                    lists[blocks[key]] = found
                elif found:
                    states[profiles[key]] = from_text(profiles[key], found)
        return Known(states, *_blocks(viewer_id, asked, lists))

    def newest(self, kind: Kind, owner_id: str, most: int) -> Newest | None:
        with self._nodes.errors_named():
            found = self._nodes.call(NEWEST, [list_key(kind, owner_id)], (most,))
        if not found:
            return None
        whole, count, *told = found
        rows = [Row(user_id, int(at)) for user_id, at in zip(told[::2], told[1::2], strict=True)]
        return Newest(rows, whole == "+" and len(rows) == count)

    def keep(self, states: Iterable[State]) -> None:
        self._put(cache.SECONDS, states, read=True)

    def tell(self, states: Iterable[State]) -> None:
        self._put(cache.GUARD_SECONDS, states, read=False)

    def begin(self, kind: Kind, owner_id: str) -> Fill | None:
        token = uuid.uuid4().hex
        keys = list_key(kind, owner_id), noted_key(kind, owner_id)
        with self._nodes.errors_named():
            noted = self._nodes.call(BEGIN, keys, (token, cache.FILL_SECONDS))
        return None if noted is None else Fill(token, noted)

    def commit(self, kind: Kind, owner_id: str, fill: Fill, newest: Newest) -> bool:
        args: list[Argument] = [fill.token, fill.seconds, "+" if newest.whole else "-"]
        for row in newest.rows:
            args += [row.at, row.user_id]
        with self._nodes.errors_named():
            return bool(self._nodes.call(COMMIT, [list_key(kind, owner_id)], args))

    def note(self, edition: str, changes: Iterable[Member]) -> list[Member]:
        items: dict[Item, Member] = {
            (list_key(each.kind, each.owner_id), noted_key(each.kind, each.owner_id), each.user_id): each
            for each in changes
        }
        with self._nodes.errors_named():
            answers = self._nodes.gather(NOTE, (edition, cache.NOTE_SECONDS, cache.MOST_NOTED, cache.BUSY), [*items])
        return [items[item] for some, kept in answers for item, is_kept in zip(some, kept, strict=True) if is_kept]

    def agree(self, edition: str, found: Mapping[Member, int | None]) -> None:
        items = [
            (list_key(each.kind, each.owner_id), each.user_id, "" if at is None else str(at))
            for each, at in found.items()
        ]
        with self._nodes.errors_named():
            self._nodes.gather(AGREE, (edition, cache.MOST, cache.SLACK), items)

    def _put(self, seconds: int, states: Iterable[State], *, read: bool) -> None:
        items = [(profile_key(each.user_id), str(each.version), cache.to_text(each)) for each in states]
        with self._nodes.errors_named():
            self._nodes.gather(PUT, (seconds, int(read)), items)


def connect(redis: RedisConnection) -> Nodes:
    """Make a client that gives up soon."""
    return Nodes(redis.url, connect_timeout=SECONDS, timeout=SECONDS, **redis.options())


def _blocks(viewer_id: str, asked: Collection[str], lists: Mapping[Kind, Any]) -> tuple[set[tuple[str, str]], set[str]]:
    """Return who blocks whom, and with whom that is certain: who is in no list that is whole, or in one."""
    blocks: set[tuple[str, str]] = set()
    certain = set(asked)
    for kind, found in lists.items():
        if not found:
            return set(), set()
        whole, scores = found
        for user_id, score in zip(asked, scores, strict=True):
            if score is not None:
                blocks.add((viewer_id, user_id) if kind is Kind.BLOCKING else (user_id, viewer_id))
            elif whole != "+":
                certain.discard(user_id)
    return blocks, certain
