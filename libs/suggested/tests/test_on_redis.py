"""What a run in Redis promises: all of it or another; on a single Redis and on a cluster."""

import itertools
import threading
from contextlib import closing

import pytest

from murmuration_runtime.errors import RedisAwayError
from murmuration_suggested import layout
from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import LostError, OlderError, SuggestedWriter, connect
from murmuration_testkit.redis_nodes import redis_cluster, redis_node
from murmuration_testkit.waiting import eventually

pytestmark = pytest.mark.stack(shared=False)
FIRST, SECOND = "20261118T010000Z", "20261119T010000Z"
PEOPLE = [f"u{number}" for number in range(1_200)]


def run_of(version, people=PEOPLE):
    return Run(version, 1_795_107_455_000, len(people), ("everybody's darling",))


def lists(version, people=PEOPLE):
    return [(person, to_text([Suggestion(f"of-{version}", 1, ("ana",))])) for person in people]


def write(writer, version, people=PEOPLE, *, force=False):
    begun = writer.begin()
    assert writer.write(version, lists(version, people)) == len(people)
    writer.switch(run_of(version, people), begun, force=force)


def shown(reader, user_id):
    run = reader.run()
    found = reader.find(user_id, run and run.version).of_run
    return found and [each.user_id for each in found]


def test_a_run_is_read_when_it_is_switched_to(writer, reader):
    """Before that there is none, and nobody has a list."""
    begun = writer.begin()
    writer.write(FIRST, lists(FIRST))
    assert reader.run() is None
    assert shown(reader, "u7") is None
    writer.switch(run_of(FIRST), begun)
    assert reader.run() == run_of(FIRST)
    assert reader.find("u7", FIRST).of_run == [Suggestion(f"of-{FIRST}", 1, ("ana",))]
    assert shown(reader, "nobody") is None


def test_no_reader_sees_half_of_a_run(writer, reader):
    """Whoever reads while the next one is written reads all of one run or all of the other, each to its end."""
    write(writer, FIRST)
    seen, over = [], threading.Event()

    def read():
        while not over.is_set():
            run = reader.run()
            seen.append((run.version, {reader.find(user, run.version).of_run[0].user_id for user in PEOPLE[::97]}))

    thread = threading.Thread(target=read)
    thread.start()
    write(writer, SECOND)
    over.set()
    thread.join()
    assert {version for version, _ in seen} >= {FIRST}
    assert all(those == {f"of-{version}"} for version, those in seen)
    assert shown(reader, "u7") == [f"of-{SECOND}"]


def test_a_run_expires(nodes, writer):
    """All of it, after three days: errors do not live for ever."""
    write(writer, FIRST, PEOPLE[:3])
    for key in (layout.RUN, layout.suggested("u1", FIRST)):
        assert 0 < nodes.client.ttl(key) <= layout.RUN_SECONDS


def test_an_earlier_run_takes_no_later_ones_place(writer, reader):
    """Unless an operator says so."""
    write(writer, SECOND)
    with pytest.raises(OlderError):
        write(writer, FIRST)
    assert shown(reader, "u7") == [f"of-{SECOND}"]
    write(writer, FIRST, force=True)
    assert shown(reader, "u7") == [f"of-{FIRST}"]


def test_two_jobs_at_once_switch_to_no_half_run(nodes, reader):
    """However their steps lie among each other: what counts is whole, and whoever began last need not write anew."""
    people = PEOPLE[:4]
    for firsts in itertools.combinations(range(8), 4):
        nodes.client.flushall()
        jobs = {each: steps(SuggestedWriter(nodes), each, people) for each in (FIRST, SECOND)}
        ends = {}
        for version in (FIRST if place in firsts else SECOND for place in range(8)):
            try:
                next(jobs[version], None)
            except (LostError, OlderError) as error:
                ends[version] = type(error)
            if run := reader.run():
                assert [shown(reader, person) for person in people] == [[f"of-{run.version}"]] * 4, firsts
        assert reader.run(), firsts
        assert ends.get(SECOND if 0 in firsts else FIRST) is not LostError, firsts


def steps(writer, version, people):
    """Do what a job does, in four steps."""
    begun = writer.begin()
    yield
    writer.forget_others(begun, version)
    writer.write(version, lists(version, people[:2]))
    yield
    writer.write(version, lists(version, people[2:]))
    yield
    writer.switch(run_of(version, people), begun)
    yield


def test_who_forgets_stops_when_another_job_begins(writer, reader):
    """A scan takes its time: what it comes by later may be the other's."""
    begun = writer.begin()
    write(writer, SECOND)
    with pytest.raises(LostError):
        writer.forget_others(begun, FIRST)
    assert all(reader.find(each, SECOND).of_run for each in PEOPLE)


def test_a_full_redis_is_freed_by_the_next_run():
    """Half a run fills it: it takes no list more until that half is forgotten."""
    with (
        redis_node("--maxmemory", "8mb", "--maxmemory-policy", "noeviction") as node,
        closing(connect(node.url)) as nodes,
    ):
        writer, reader = SuggestedWriter(nodes), SuggestedReader(nodes)
        write(writer, FIRST, PEOPLE[:9])
        with pytest.raises(RedisAwayError, match="maxmemory"):
            writer.write("20261118T020000Z", ((f"u{number}", "x" * 2_000) for number in itertools.count()))
        node.redis.config_set("maxmemory", node.redis.info("memory")["used_memory"] - 100_000)
        with pytest.raises(RedisAwayError, match="maxmemory"):
            writer.write(SECOND, lists(SECOND)[:1])
        assert writer.forget_others(writer.begin(), SECOND) > 1_000
        assert shown(reader, "u7") == [f"of-{FIRST}"]
        write(writer, SECOND)
        assert shown(reader, "u7") == [f"of-{SECOND}"]


def test_what_a_run_replaced_is_forgotten_by_the_one_after(nodes, writer, reader):
    """Who is about to read the one before still can; no third one is kept."""
    write(writer, "20261117T010000Z", PEOPLE[:9])
    write(writer, FIRST, PEOPLE[:9])
    reader.keep("u1", [])
    assert writer.forget_others(writer.begin(), SECOND) == 9
    assert shown(reader, "u7") == [f"of-{FIRST}"]
    assert len([*nodes.client.scan_iter(match=layout.LISTS)]) == 10


def test_a_refusal_is_known_until_a_run_is_accepted(writer, reader):
    """So that somebody can be told."""
    write(writer, FIRST, PEOPLE[:3])
    refused = Run(SECOND, 1, 1, (), ("half as many people as last time",))
    writer.refuse(refused)
    assert reader.refused() == refused
    assert reader.run().version == FIRST
    write(writer, SECOND, PEOPLE[:3])
    assert reader.refused() is None


def test_what_was_made_online_is_there_for_a_minute(nodes, reader):
    """Beside the run, or without one."""
    made = [Suggestion("ben", 2, ("ana", "cleo"))]
    reader.keep("zoe", made)
    found = reader.find("zoe", None)
    assert (found.of_run, found.online) == (None, made)
    assert 0 < nodes.client.ttl(layout.suggested("zoe", layout.ONLINE)) <= layout.ONLINE_SECONDS
    reader.keep("ben", [])
    assert reader.find("ben", None).online == []  # that there is nobody is worth knowing, too


def test_a_run_that_redis_lost_some_of_is_not_switched_to():
    """Redis is killed while it is written, and comes back empty: what was written before is gone."""
    with redis_node() as node:
        writer, reader = SuggestedWriter(connect(node.url)), SuggestedReader(connect(node.url))
        write(writer, FIRST)
        begun = writer.begin()
        writer.write(SECOND, lists(SECOND)[:600])
        node.kill()
        with pytest.raises(RedisAwayError):
            writer.write(SECOND, lists(SECOND)[600:])
        node.start()
        eventually(lambda: _written(writer, lists(SECOND)[600:]), 600, within=10)
        with pytest.raises(LostError):
            writer.switch(run_of(SECOND), begun)
        assert reader.run() is None
        write(writer, SECOND)
        assert shown(reader, "u7") == [f"of-{SECOND}"]


def _written(writer, some):
    try:
        return writer.write(SECOND, some)
    except RedisAwayError:
        return 0


def test_nor_one_that_a_node_of_a_cluster_lost_some_of():
    """Its replica took its place: it may have lagged."""
    with redis_cluster(replicated=True) as cluster:
        writer, reader = SuggestedWriter(connect(cluster.url)), SuggestedReader(connect(cluster.url))
        write(writer, FIRST)
        begun = writer.begin()
        writer.write(SECOND, lists(SECOND))
        cluster.fail_over(next(node for node in cluster.masters() if node is not cluster.owner(layout.RUN)))
        cluster.settle()
        with pytest.raises(LostError):
            writer.switch(run_of(SECOND), begun)
        assert reader.run().version == FIRST
