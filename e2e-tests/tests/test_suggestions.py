"""Suggestions over HTTP, of a run that the test writes itself: the job needs Spark, and its readers do not."""

import json
import os
import re
import time
from contextlib import closing

import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from redis import Redis

from contracts import TOPICS
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_testkit.people import Person, send
from murmuration_testkit.processes import all_ready, control, page, pause, resume, stopped
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually, steadily


def names(answer):
    return [row["user_id"] for row in json.loads(answer.data)["users"]]


def stamp():
    """Return the version of a run that begins now."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def ask(person, query=""):
    answer = send("GET", f"/v1/suggestions{query}", headers=person.headers)
    assert answer.status == 200, answer.data
    return answer


@pytest.fixture
def write():
    """Write a run later than all before, and wait until it is read; a test's people alone have lists in it."""

    def write(lists, *everybody):
        with closing(connect(os.environ["SUGGESTIONS_REDIS_URL"])) as nodes:
            before = SuggestedReader(nodes).run()
            version = eventually(lambda: (now := stamp()) > (before.version if before else "") and now)
            target = SuggestedWriter(nodes)
            begun = target.begin()
            texts = [(user.user_id, to_text(each)) for user, each in lists.items()]
            target.write(version, texts)
            target.switch(Run(version, int(time.time() * 1000), len(texts), everybody), begun)
        for user in lists:
            eventually(lambda user=user: ask(user).headers["Suggestions-From"], "run", within=10)

    return write


@pytest.fixture
def world(write):
    """Ana follows Ben, and a run suggests five people to her."""
    ana, ben, *others = (Person(name).join() for name in ("Ana", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus"))
    ana.follow(ben)
    write({ana: [Suggestion(each.user_id, 3, (ben.user_id,)) for each in others]})
    return ana, ben, others


def test_a_run_is_read_dismissed_from_and_followed_from(world):
    """Page by page; whom one dismisses is gone at once, and whom one follows within two seconds."""
    ana, ben, others = world
    ids = [each.user_id for each in others]
    first = ask(ana, "?limit=2&expand=author")
    page = json.loads(first.data)
    assert page["users"][0] == {"user_id": ids[0], "because": {"user_ids": [ben.user_id], "count": 3}}
    assert [each["display_name"] for each in page["authors"]] == ["Cleo", "Dora", "Ben"]
    assert names(ask(ana, f"?limit=3&cursor={page['next_cursor']}")) == ids[2:]
    for _ in range(2):
        assert send("DELETE", f"/v1/suggestions/{ids[0]}", headers=ana.headers).status == 204
    assert names(ask(ana)) == ids[1:]
    ana.follow(others[1])
    others[2].ask("PUT", f"/v1/users/{ana.user_id}/block")
    others[3].leave()
    eventually(lambda: names(ask(ana)), ids[4:], within=5)  # two seconds, on a busy machine
    assert names(ask(ana, f"?cursor={page['next_cursor']}")) == ids[4:]


def test_who_pages_while_a_new_run_comes_goes_on_in_the_old_one(world, write):
    """And who begins anew gets the new one."""
    ana, _, others = world
    ids = [each.user_id for each in others]
    cursor = json.loads(ask(ana, "?limit=2").data)["next_cursor"]
    write({ana: [Suggestion(each) for each in ids[::-1]]})
    eventually(lambda: names(ask(ana)), ids[::-1], within=10)
    assert names(ask(ana, f"?cursor={cursor}")) == ids[2:]


@pytest.mark.parametrize("fault", ["away", "hangs", "lost everything"])
def test_a_redis_that_is_away_hangs_or_is_empty_is_done_without(world, fault):
    """Online suggestions in its place, within the deadline of a request, and never a 5xx; then as before."""
    ana, ben, others = world
    ben.follow(others[1])
    online = [others[1].user_id]

    def is_online():
        began = time.monotonic()
        answer = ask(ana)
        took = time.monotonic() - began
        return answer.headers["Suggestions-From"] == "online" and names(answer)[:1] == online and took < 2

    with closing(connect(os.environ["SUGGESTIONS_REDIS_URL"])) as nodes:
        if fault == "lost everything":
            nodes.client.flushall()
            eventually(is_online, within=3)
            return
        if fault == "away":
            control("stop", "suggestions-redis")
        else:
            pause("suggestions-redis")
        try:
            eventually(is_online, within=15)
            steadily(is_online, True, during=2, every=0.2)
            assert send("DELETE", f"/v1/suggestions/{online[0]}", headers=ana.headers).status == 204
            assert online[0] not in names(ask(ana))
        finally:
            resume("suggestions-redis")
            control("start", "suggestions-redis")
            all_ready()


def hits():
    """How many pages were answered from what is kept."""
    _, told = page("follow-service", "/metrics")
    series = r'^graph_cache_reads_total\{of="suggestions",outcome="hit"\} (\S+)$'
    return sum(map(float, re.findall(series, told, re.MULTILINE)))


def kept(person):
    """Ask until an answer comes from what is kept; return whom it names."""

    def answered():
        before = hits()
        found = names(ask(person))
        return hits() > before and found

    return eventually(answered, within=90)


def test_a_kept_page_is_dropped_by_whatever_changes_for_its_reader(world):
    """A follow, a request, a block, a mute and a deletion, one after the other, each after the page was kept again."""
    ana, _, others = world
    others[1].turn(private=True)
    changes = (
        lambda: ana.follow(others[0]),
        lambda: ana.follow(others[1]),
        lambda: others[2].ask("PUT", f"/v1/users/{ana.user_id}/block"),
        lambda: ana.ask("PUT", f"/v1/users/{others[3].user_id}/mute"),
        others[4].leave,
    )
    left = [each.user_id for each in others]
    for change in changes:
        assert kept(ana)[: len(left)] == left
        change()
        gone = left.pop(0)
        eventually(lambda gone=gone: gone in names(ask(ana)), False)


@pytest.mark.parametrize("process", ["follow-keeper", "cdc-bridge"])
def test_a_block_holds_while_nobody_brings_it_to_what_is_kept(world, process):
    """What is kept is rested on for some seconds, and then the tables say who is shown; so do profiles."""
    ana, _, others = world
    blocker = others[0]
    assert blocker.user_id in kept(ana)
    assert status(ana, blocker) == 200
    with stopped(process):
        blocker.ask("PUT", f"/v1/users/{ana.user_id}/block")
        eventually(lambda: blocker.user_id in names(ask(ana)), False)
        eventually(lambda: status(ana, blocker), 404)


def test_what_kafka_gave_up_before_the_keeper_had_read_it_makes_all_that_is_kept_void(world):
    """It is told, and nothing behind it is handled before."""
    ana, ben, others = world
    blocker, topic = others[0], TOPICS["BlockChanged"]
    place = topic.name, topic.partition(blocker.user_id)
    topics, now = KafkaTopics(read(KafkaSettings), [topic]), time.time_ns() // 1_000_000
    with Redis.from_url(os.environ["GRAPH_REDIS_URL"]) as graph_redis:
        eventually(lambda: min(map(int, graph_redis.hvals("graph_settled")), default=0) > now, within=90)
        assert blocker.user_id in kept(ana)
        with stopped("follow-keeper"):
            before = topics.ends([place])[place]
            blocker.ask("PUT", f"/v1/users/{ana.user_id}/block")
            eventually(lambda: topics.ends([place])[place] > before)
            kafka = admin()
            for future in kafka.delete_records([TopicPartition(*place, OFFSET_END)]).values():
                future.result(30)
            blocker.ask("PUT", f"/v1/users/{ben.user_id}/block")
            assert graph_redis.exists(f"suggestions:{{{ana.user_id}}}")
        eventually(lambda: graph_redis.exists(f"suggestions:{{{ana.user_id}}}"), 0, within=90)
    _, told = page("follow-keeper", "/metrics")
    assert re.search(r'^worker_gaps_total\{topic="BlockChanged"\} [1-9]', told, re.MULTILINE)
    assert blocker.user_id not in kept(ana)


def status(viewer, other):
    """Return the status of somebody's profile."""
    return send("GET", f"/v1/users/{other.user_id}", headers=viewer.headers).status
