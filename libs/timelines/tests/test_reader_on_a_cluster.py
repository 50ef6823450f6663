"""A reader on a Redis Cluster whose slots move and whose masters die: whatever it shows is complete."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from redis.crc import key_slot

from murmuration_runtime.errors import RedisAwayError
from murmuration_testkit.redis_nodes import redis_cluster
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader, connect
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import TimelineWriter

from .conftest import snowflake

pytestmark = pytest.mark.stack(shared=False)


class Feed:
    """Numbers that everyone's timeline should hold: those that are said, and how many of them reached the lists."""

    def __init__(self, nodes, users):
        self.said = self.arrived = 0
        self._writer = TimelineWriter(nodes)
        self._users = users

    def go_on(self):
        """Say one more, and bring it to every list that is there, as a worker does."""
        self.said += 1
        while True:
            with suppress(RedisAwayError):
                self._writer.insert(snowflake(self.said), self._users)
                break
        self.arrived = self.said

    def all(self):
        return [snowflake(n) for n in range(self.said, 0, -1)]


def read(reader, user, feed):
    """Read a timeline as the service does; return how it came to be, unless Redis is away: the database serves."""
    before = feed.arrived
    with suppress(RedisAwayError):
        if found := reader.home.load([user]).get(user):
            said = feed.said
            assert found.ids == [snowflake(n) for n in range(len(found.ids), 0, -1)]
            assert before <= len(found.ids) <= said
            return "warm"
        if token := reader.home.begin(user):
            reader.home.commit(user, token, Timeline(feed.all(), BEGINNING, Shown.of([user])))
            return "built"
    return "away"


def test_no_read_has_a_hole_while_slots_move_and_a_master_dies(somebody):
    """A warm timeline holds all that had arrived before it was asked for; one that may not is cold and built anew."""
    over, seen = threading.Event(), []
    users = [somebody() for _ in range(20)]
    with redis_cluster(replicated=True) as cluster, ThreadPoolExecutor(4) as threads:
        nodes = connect(cluster.url)
        reader, feed = TimelineReader(nodes), Feed(nodes, users)

        def write():
            while not over.is_set():
                feed.go_on()

        def watch():
            for user in itertools.cycle(users):
                if over.is_set():
                    break
                seen.append((user, read(reader, user, feed)))

        def all_warm():
            return {user for user, how in seen[-100:] if how == "warm"} == {*users}

        jobs = [threads.submit(write), threads.submit(watch), threads.submit(watch)]
        try:
            eventually(all_warm, True)
            slot = key_slot(layout.home_timeline(users[0]).encode())
            source = cluster.owner(layout.home_timeline(users[0]))
            target, third = (node for node in cluster.masters() if node is not source)
            start = len(seen)
            with cluster.moving(slot, source, target, keys=1):
                pass
            eventually(lambda: (users[0], "built") in seen[start:], True)
            cluster.fail_over(third)
            start, said = len(seen), feed.said
            eventually(lambda: {user for user, how in seen[start:] if how == "warm"}, {*users})
            eventually(lambda: feed.arrived > said, True)
        finally:
            over.set()
        for job in jobs:
            job.result(timeout=30)
        nodes.close()
