"""Full timelines on a Redis, and several ways to bring a tweet to them."""

import hashlib
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from redis import Redis
from redis.crc import key_slot

from murmuration_runtime.redis_nodes import Script
from murmuration_timelines import layout
from murmuration_timelines.scripts import INSERT
from murmuration_timelines.writer import TimelineWriter, connect

PAGE = 1_000  # followers that are read at once
Deliver = Callable[[str], object]
Crowd = list[Deliver]  # a tweet's followers, page by page
Way = Callable[[Sequence[str]], Deliver]  # for a page of followers: how to bring them a tweet


class Lua(Script):
    """A script of the benchmark's own."""

    def __init__(self, text: str) -> None:
        self.text = f"#!lua flags=allow-cross-slot-keys\n{text}"
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        self.keys, self.raw = 1, False


FILL = Lua("""
local full = {}
for i, key in ipairs(ARGV) do
  local length = 800 + i % 64 -- as they are at any moment: some are about to be cut
  redis.call('SET', key:gsub('_timeline', '_shown', 1), '!')
  if full[length] then
    redis.call('RESTORE', key, 0, full[length])
  else
    for n = length, 1, -1 do redis.call('RPUSH', key, string.format('17%017d', n)) end
    full[length] = redis.call('DUMP', key)
  end
end""")
BARE = Lua("""
for i = 2, #ARGV do
  redis.call('LPUSHX', ARGV[i], ARGV[1])
  redis.call('RPOP', ARGV[i])
end""")
_numbers = itertools.count()


class Field:
    """So many users with full timelines."""

    def __init__(self, url: str, users: int) -> None:
        self.nodes = connect(url)
        self.timelines = TimelineWriter(self.nodes)
        self._client: Any = self.nodes.client
        self._users = [f"u-{n:032d}" for n in range(users)]
        self._lanes = {lanes: [self._users[lane::lanes] for lane in range(lanes)] for lanes in (1, 2, 4)}
        for script in (BARE, INSERT):
            self._client.script_load(script.text)
        for page in pages(self._users, 10 * PAGE):
            self.nodes.gather(FILL, (), [(layout.home_timeline(user),) for user in page])

    def followers(self, count: int, lane: int, lanes: int) -> list[str]:
        """Choose that many users among those of one lane: its authors' followers follow no others."""
        users = self._lanes[lanes][lane]
        if count > len(users):
            raise ValueError(f"a lane has {len(users):,} users, so nobody has {count:,} followers: raise POPULATION")
        start = random.randrange(len(users))
        return users[start : start + count] + users[: max(0, start + count - len(users))]

    def ours(self, users: Sequence[str]) -> Deliver:
        """Insert as the worker does."""
        return lambda tweet_id: self.timelines.insert(tweet_id, users)

    def pipelined(self, users: Sequence[str]) -> Deliver:
        """Push and trim by redis-py's pipeline."""
        keys = _keys(users)

        def deliver(tweet_id: str) -> None:
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.lpush(key, tweet_id)
                    pipeline.ltrim(key, 0, layout.CAP - 1)
                pipeline.execute()

        return deliver

    def bare(self, users: Sequence[str]) -> Deliver:
        """Push and pop by a script that looks at nothing, one call a node."""
        calls = [(node, [key for key in _keys(users) if self._node(key) is node]) for node in self._masters()]

        def deliver(tweet_id: str) -> None:
            for node, keys in calls:
                node.evalsha(BARE.sha, 0, tweet_id, *keys)

        return deliver

    def one_by_one(self, users: Sequence[str]) -> Deliver:
        """Insert by the worker's script, pipelined, one call a key."""
        keys = _keys(users)

        def deliver(tweet_id: str) -> None:
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.execute_command("EVALSHA", INSERT.sha, 1, key, tweet_id, layout.CAP, layout.SLACK, key)
                pipeline.execute()

        return deliver

    def _masters(self) -> list[Any]:
        if isinstance(self._client, Redis):
            return [self._client]
        return [node.redis_connection for node in self._client.get_primaries()]

    def _node(self, key: str) -> Any:
        if isinstance(self._client, Redis):
            return self._client
        return self._client.nodes_manager.slots_cache[key_slot(key.encode())][0].redis_connection


def rates(
    field: Field, ways: dict[str, Way], followers: int, deliveries: int, runs: int, lanes: int
) -> dict[str, float]:
    """Return the median deliveries a second of each way; they take turns."""
    turns = [{name: _run(field, way, followers, deliveries, lanes) for name, way in ways.items()} for _ in range(runs)]
    return {name: statistics.median(turn[name] for turn in turns) for name in ways}


def by_crowd(field: Field, sizes: Sequence[int], deliveries: int, runs: int, lanes: int) -> dict[int, float]:
    """Return the worker's median deliveries a second to crowds of each size; they take turns."""
    turns = [{size: _run(field, field.ours, size, deliveries, lanes) for size in sizes} for _ in range(runs)]
    return {size: statistics.median(turn[size] for turn in turns) for size in sizes}


def _run(field: Field, way: Way, followers: int, deliveries: int, lanes: int) -> float:
    events = max(1, deliveries // followers // lanes)
    to = [crowds(field, way, followers, events, lane, lanes) for lane in range(lanes)]
    return rate(followers, to, [fresh() for _ in range(events)])


def crowds(field: Field, way: Way, followers: int, events: int, lane: int = 0, lanes: int = 1) -> list[Crowd]:
    """Choose followers for so many tweets, and prepare how to bring them theirs; none is in the processor's cache."""
    return [[way(page) for page in pages(field.followers(followers, lane, lanes))] for _ in range(events)]


def rate(followers: int, to: Sequence[Sequence[Crowd]], tweet_ids: Sequence[str]) -> float:
    """Bring the tweets to the crowds of each lane, all lanes at once; return the deliveries a second."""

    def run(lane: Sequence[Crowd]) -> None:
        for crowd, tweet_id in zip(lane, tweet_ids, strict=True):
            for deliver in crowd:
                deliver(tweet_id)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(to)) as threads:
        list(threads.map(run, to))
    return len(to) * len(tweet_ids) * followers / (time.perf_counter() - began)


def fresh() -> str:
    """Give the id of a tweet that is newer than all."""
    return f"18{next(_numbers):017d}"


def pages(users: Sequence[str], size: int = PAGE) -> Iterator[Sequence[str]]:
    """Cut followers into pages."""
    return (users[start : start + size] for start in range(0, len(users), size))


def _keys(users: Sequence[str]) -> list[str]:
    return [layout.home_timeline(user) for user in users]
