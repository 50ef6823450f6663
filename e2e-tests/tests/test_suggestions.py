"""Suggestions over HTTP, of a run that the test writes itself: the job needs Spark, and its readers do not."""

import json
import os
import time
from contextlib import closing

import pytest

from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.runs import Run
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_testkit.people import Person, send
from murmuration_testkit.processes import all_ready, control, pause, resume
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
            histories = target.histories()
            texts = [(user.user_id, to_text(each)) for user, each in lists.items()]
            target.write(version, texts)
            target.switch(Run(version, int(time.time() * 1000), len(texts), everybody), histories)
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
            eventually(is_online, within=5)
            steadily(is_online, True, during=2, every=0.2)
            assert send("DELETE", f"/v1/suggestions/{online[0]}", headers=ana.headers).status == 204
            assert online[0] not in names(ask(ana))
        finally:
            resume("suggestions-redis")
            control("start", "suggestions-redis")
            all_ready()
