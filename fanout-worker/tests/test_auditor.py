"""The audit, as an operator and as the stack run it, on real parts: spoiled timelines are found and mended."""

import json
import os
import subprocess
import sys
from contextlib import closing

import pytest
import urllib3

from murmuration_testkit.people import Person
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown, digest
from murmuration_timelines.writer import connect

pytestmark = pytest.mark.stack
AN_HOUR = 3_600
SOON = ["--apart", "1", "--rate", "500"]


@pytest.fixture
def nodes():
    with closing(connect(os.environ["REDIS_URL"])) as connected:
        yield connected


@pytest.fixture
def readers(nodes):
    """Three who follow one another's star, with warm timelines that have what the star said."""
    star = Person("Star").join()
    fans = [Person(f"Fan {n}").join() for n in range(3)]
    for fan in fans:
        fan.follow(star)
        assert fan.timeline() == []
    for text in ("one", "two", "three"):
        star.tweet(text)
    home = TimelineReader(nodes).home
    for fan in fans:
        eventually(fan.timeline, ["three", "two", "one"])
        eventually(lambda fan=fan: star.user_id in home.load([fan.user_id])[fan.user_id].shown, expected=True)
        for key in (layout.home_timeline(fan.user_id), layout.home_shown(fan.user_id)):
            nodes.client.expire(key, AN_HOUR)  # what is built right after a start lives for some seconds
    return star, fans


def audit(*words):
    run = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "fanout_worker", "audit", *words, *SOON],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), [json.loads(line) for line in run.stderr.splitlines()]


def test_a_timeline_that_was_spoiled_is_found_and_mended(nodes, readers):
    """A missing id, and a followee missing among the shown; the third is healthy, and stays warm."""
    star, (lacking, hiding, healthy) = readers
    redis = nodes.client
    lost = redis.lindex(layout.home_timeline(lacking.user_id), 1)
    redis.lrem(layout.home_timeline(lacking.user_id), 1, lost)
    home = TimelineReader(nodes).home
    was = home.load([hiding.user_id])[hiding.user_id]
    left = b"".join(sorted(was.shown.each() - {digest(star.user_id)}))
    head = was.head.text.replace(was.head.edition, "spoiled")  # under the same head a page does not look at the rest
    raw = head.encode() + b" " + left
    redis.set(layout.home_shown(hiding.user_id), raw, keepttl=True)
    assert (lacking.timeline(), hiding.timeline()) == (["three", "one"], [])
    fans = [fan.user_id for fan in (lacking, hiding, healthy)]
    found, logged = audit("--user", *fans)
    assert (found["differed"], sorted(found["users"])) == (2, sorted(fans[:2]))
    reasons = {line["user_id"]: line["reason"] for line in logged if line["message"].startswith("a timeline differs")}
    assert lost in reasons[lacking.user_id]
    assert reasons[hiding.user_id] == f"it does not show {star.user_id}, whom its reader follows"
    assert redis.ttl(layout.home_timeline(healthy.user_id)) <= AN_HOUR  # nobody has read it
    assert sorted(home.load(fans)) == [healthy.user_id]
    for fan in (lacking, hiding, healthy):
        assert fan.timeline() == ["three", "two", "one"]
    assert audit("--user", *fans)[0]["differed"] == 0


def test_somebody_who_is_shown_and_not_followed_is_found(nodes, readers):
    """A row that went without an event, as a table that is restored loses them."""
    _, (reader, *_) = readers
    home = TimelineReader(nodes).home
    was = home.load([reader.user_id])[reader.user_id]
    digests = b"".join(sorted(was.shown.each() | {digest("somebody-else")}))
    nodes.client.set(layout.home_shown(reader.user_id), was.head.text.encode() + b" " + digests, keepttl=True)
    assert audit("--user", reader.user_id)[0]["users"] == [reader.user_id]
    reader.timeline()
    assert home.load([reader.user_id])[reader.user_id].shown != Shown(digests)


@pytest.mark.usefixtures("readers")
def test_as_a_process_it_measures_what_it_found(tmp_path):
    """Ready when the stores answer; the metrics say how many differed and when the last run ended."""
    port, log = free_port(), tmp_path / "log"

    def get(path):
        try:
            return urllib3.request("GET", f"http://127.0.0.1:{port}{path}", retries=False, timeout=5).data.decode()
        except urllib3.exceptions.HTTPError as error:
            return str(error)

    def measured(name):
        start = f"fanout_worker_audit_{name} "
        return max([float(line.split()[1]) for line in get("/metrics").splitlines() if line.startswith(start)] + [0])

    command = [sys.executable, "-m", "fanout_worker", "audit", "--every", "3600", "--sample", "1", *SOON]
    with (
        log.open("wb") as out,
        subprocess.Popen(command, env={**os.environ, "ADMIN_PORT": str(port)}, stderr=out) as process,  # noqa: S603 - ours
    ):
        try:
            eventually(lambda: measured("last_run_timestamp_seconds") > 0, expected=True, within=120)
            assert json.loads(get("/readyz"))["status"] == "ready"
            assert (measured("checked"), measured("differed")) == (1, 0)
        finally:
            process.terminate()
        assert process.wait(20) == 0
    assert [line["message"] for line in map(json.loads, log.read_text().splitlines())].count("audited") == 1
