"""Which list somebody is read: the same tests on a Redis in memory and on a real one."""

import time
from contextlib import closing

import pytest

from follow_service.follows import Edge
from follow_service.lists import Listed
from follow_service.suggestion_lists import RUN_SECONDS, SuggestionLists
from follow_service.two_hops import EACH, FRIENDS, two_hops
from murmuration_runtime.errors import RedisAwayError
from murmuration_suggested import writer
from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.reader import SECONDS, SuggestedReader, connect
from murmuration_suggested.runs import Run
from murmuration_testkit.redis_nodes import redis_node
from murmuration_testkit.waiting import eventually

from .memory_of_suggestions import SuggestedInMemory

FIRST, SECOND, THIRD = "20261118T010000Z", "20261119T010000Z", "20261120T010000Z"
OF_FIRST = [Suggestion("cleo", 1, ("ben",)), Suggestion("dora")]
OF_SECOND = [Suggestion("emil")]


def answers(world):
    """Tell whether Redis answers."""
    try:
        world.check()
    except RedisAwayError:
        return False
    return True


def run_of(version, *everybody):
    return Run(version, 1_795_107_455_000, 1, everybody)


@pytest.fixture(scope="module")
def node():
    with redis_node() as node:
        yield node


class Promises:
    """Subclassed by one class for each Redis."""

    @pytest.fixture
    def world(self, kept, graph):
        """Ana follows Ben, who follows Cleo; a clock."""
        graph.follows.add(Edge("ana", "ben"), 1)
        graph.follows.add(Edge("ben", "cleo"), 1)
        self.now = 0.0
        return SuggestionLists(kept, graph.lists, lambda: self.now)

    def found(self, world, name=None):
        listed = world.find("ana", name)
        return listed.name, [each.user_id for each in listed.suggestions]

    def test_a_list_of_the_run_is_read(self, world, write):
        """As it was written."""
        write(run_of(FIRST, "star"), {"ana": OF_FIRST})
        listed = world.find("ana", None)
        assert (listed.name, [*listed.suggestions]) == (world.version(), OF_FIRST) == (FIRST, OF_FIRST)

    def test_a_cursor_goes_on_in_its_run_until_that_is_gone(self, world, write):
        """When a new run counts, within a second everybody begins with that one; who reads the old one still can."""
        write(run_of(FIRST), {"ana": OF_FIRST})
        assert self.found(world) == (FIRST, ["cleo", "dora"])
        write(run_of(SECOND), {"ana": OF_SECOND})
        self.now += RUN_SECONDS
        assert self.found(world) == (SECOND, ["emil"])
        assert self.found(world, FIRST) == (FIRST, ["cleo", "dora"])
        write(run_of(THIRD), {"ana": OF_SECOND})
        self.now += RUN_SECONDS
        assert self.found(world, FIRST) == (THIRD, ["emil"])

    def test_a_newcomer_gets_two_hops_then_everybody(self, world, write):
        """Made once a minute; who goes on in that list does so even if a run knows them meanwhile."""
        write(run_of(FIRST, "star", "cleo"), {"zoe": OF_FIRST})
        assert self.found(world) == ("online", ["cleo", "star"])
        write(run_of(SECOND, "other"), {"ana": OF_SECOND})
        self.now += RUN_SECONDS
        assert self.found(world, "online") == ("online", ["cleo", "star"])
        assert self.found(world) == (SECOND, ["emil"])

    def test_what_was_made_online_is_read_again(self, world, graph):
        """For a minute; what changed meanwhile is left out by whoever looks."""
        assert self.found(world) == ("online", ["cleo"])
        graph.follows.add(Edge("ben", "dora"), 2)
        assert self.found(world) == ("online", ["cleo"])

    def test_a_redis_that_lost_everything_is_made_up_for(self, world, write, lose):
        """Online, until the run is there again."""
        write(run_of(FIRST, "star"), {"ana": OF_FIRST})
        assert self.found(world)[0] == FIRST
        lose()
        self.now += RUN_SECONDS
        assert self.found(world, FIRST) == ("online", ["cleo"])
        assert self.found(world) == ("online", ["cleo"])

    def test_a_redis_that_is_away_is_done_without(self, world, write, stop):
        """The list is made from the tables, and whom anybody may be suggested is remembered."""
        write(run_of(FIRST, "star"), {"ana": OF_FIRST})
        world.find("ana", None)
        stop()
        for name in (None, FIRST):
            assert self.found(world, name) == ("online", ["cleo", "star"])
        self.now += RUN_SECONDS
        assert world.version() == ""


class TestInMemory(Promises):
    """On a Redis in memory."""

    @pytest.fixture
    def kept(self):
        return SuggestedInMemory()

    @pytest.fixture
    def write(self, kept):
        return kept.write

    @pytest.fixture
    def lose(self, kept):
        return kept.__init__

    @pytest.fixture
    def stop(self, kept):
        def stop():
            kept.is_away = True

        return stop


@pytest.mark.stack(shared=False)
class TestOnRedis(Promises):
    """On a Redis of its own."""

    @pytest.fixture
    def kept(self, node):
        if not node.alive():
            node.start()
        node.redis.flushall()
        with closing(connect(node.url)) as nodes:
            yield SuggestedReader(nodes)

    @pytest.fixture
    def write(self, node):
        def write(run, lists):
            with closing(writer.connect(node.url)) as nodes:
                target = writer.SuggestedWriter(nodes)
                begun = target.begin()
                target.write(run.version, [(user, to_text(each)) for user, each in lists.items()])
                target.switch(run, begun)
                target.forget_others(begun, run.version)

        return write

    @pytest.fixture
    def lose(self, node):
        return node.redis.flushall

    @pytest.fixture
    def stop(self, node):
        return node.kill

    def test_a_redis_that_hangs_is_waited_for_once(self, world, node):
        """Half a second; then nobody waits until a probe is answered."""
        self.found(world)
        node.pause()
        try:
            took = []
            for _ in range(3):
                began = time.monotonic()
                assert world.find("ana", None).name == "online"
                took.append(time.monotonic() - began)
        finally:
            node.resume()
        assert took[0] < 1.5
        assert sum(took[1:]) < SECONDS
        eventually(lambda: answers(world), True)


def test_two_hops_count_common_friends_within_a_bound(graph, aws):
    """The best first, each with whom they are followed by; eleven readings, however many people are followed."""
    for friend in range(FRIENDS + 5):
        graph.follows.add(Edge("zoe", f"f{friend}"), friend)
        for other in range(EACH + 5):
            graph.follows.add(Edge(f"f{friend}", f"o{friend}-{other}"), other)
    graph.follows.add(Edge("f14", "star"), 99)
    graph.follows.add(Edge("f13", "star"), 99)
    graph.follows.add(Edge("f14", "f13"), 99)
    graph.follows.add(Edge("f14", "zoe"), 99)
    aws.calls.clear()
    found = two_hops(graph.lists, "zoe")
    assert aws.calls.total() == FRIENDS + 1
    assert found[0] == Suggestion("star", 2, ("f14", "f13"))
    assert len(found) == 100
    assert {"zoe", *(f"f{n}" for n in range(5, 15))}.isdisjoint(each.user_id for each in found)
    assert two_hops(graph.lists, "nobody") == []
    assert [row.user_id for row in graph.lists.rows(Listed.FOLLOWING, "zoe", 1, None)[0]] == ["f14"]
