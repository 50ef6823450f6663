"""What a client sees."""

from dataclasses import asdict

import pytest

from contracts.profiles import Display, Profile
from murmuration_runtime.metrics import METRICS
from murmuration_testkit.openapi import described, served
from murmuration_timelines import layout
from murmuration_timelines.fake import FakeNodes
from timeline_service.rebuild_slots import BusyError

from .conftest import bearer, client, tweet
from .memory import MemoryDatabase


@pytest.fixture
def said(database):
    tweets = [tweet(n, author) for n, author in enumerate(["alice", "bob", "bob", "carol"])]
    database.said = {one.tweet_id: one for one in tweets}
    database.follows = {("alice", "bob")}
    return tweets


def test_a_timeline_links_to_its_next_page(http, said):
    """Newest first, with author and time; next_cursor and Link lead to the same page."""
    first = http.get("/v1/timeline?limit=2", headers=bearer("alice"))
    assert [one["text"] for one in first.json["tweets"]] == ["tweet 2", "tweet 1"]
    assert first.json["tweets"][0] == {
        "tweet_id": said[2].tweet_id,
        "author_id": "bob",
        "text": "tweet 2",
        "created_at": 1_700_000_000_002,
    }
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("alice"))
    assert [one["text"] for one in second.json["tweets"]] == ["tweet 0"]
    assert second.json["next_cursor"] is None
    assert "Link" not in second.headers


@pytest.mark.usefixtures("said")
def test_a_page_brings_its_authors_profiles_if_they_are_asked_for(http, database):
    """Each once, in the order of the tweets, in one question; who has none is left out; a plain page asks nothing."""
    for who in ("alice", "bob", "carol"):
        database.members[who] = Profile(who, f"{who.title()} é", False, 1, 2, 3, Display.of(1, 2))
    plain = http.get("/v1/timeline", headers=bearer("alice")).json
    assert database.asked_for_profiles == 0
    expanded = http.get("/v1/timeline?expand=author", headers=bearer("alice")).json
    assert database.asked_for_profiles == 1
    assert expanded.pop("authors") == [asdict(database.members[who]) for who in ("bob", "alice")]
    assert expanded == plain
    del database.members["bob"]
    page = http.get("/v1/timeline?expand=author&limit=1", headers=bearer("alice"))
    assert page.json["authors"] == []
    assert "expand=author" in page.headers["Link"]


@pytest.mark.usefixtures("said")
def test_what_is_new_can_be_counted_and_read(http, nodes, database):
    """Every first page says what to ask with; pages of what is new lead to one another, and end."""
    since = http.get("/v1/timeline", headers=bearer("alice")).json["newest"]
    asked = f"/v1/timeline/count?since={since}"
    assert http.get(asked, headers=bearer("alice")).json == {"count": 0, "more": False}
    new = [tweet(n, "alice") for n in range(10, 13)]
    database.said |= {one.tweet_id: one for one in new}
    nodes.forget(layout.home_timeline("alice"))
    assert http.get(asked, headers=bearer("alice")).json == {"count": 3, "more": False}
    first = http.get(f"/v1/timeline?limit=2&since={since}", headers=bearer("alice"))
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("alice"))
    texts = [one["text"] for page in (first, second) for one in page.json["tweets"]]
    assert texts == ["tweet 12", "tweet 11", "tweet 10"]
    assert second.json["next_cursor"] is second.json["newest"] is None
    asked = f"/v1/timeline/count?since={first.json['newest']}"
    assert http.get(asked, headers=bearer("alice")).json == {"count": 0, "more": False}


@pytest.mark.usefixtures("said")
def test_more_than_a_hundred_are_not_counted(http, database):
    """A client shows 100+."""
    since = http.get("/v1/timeline", headers=bearer("carol")).json["newest"]
    database.said |= {one.tweet_id: one for one in (tweet(n, "alice") for n in range(10, 111))}
    counted = http.get(f"/v1/timeline/count?since={since}", headers=bearer("alice")).json
    assert counted == {"count": 100, "more": True}


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("/v1/timeline?limit=0", 400, "limit"),
        ("/v1/timeline?limit=201", 400, "limit"),
        ("/v1/timeline?cursor=x", 400, "cursor"),
        ("/v1/timeline?since=x", 400, "since"),
        ("/v1/timeline?expand=x", 400, "expand"),
        ("/v1/timeline/count", 400, "since"),
        ("/v1/timeline/count?since=x", 400, "since"),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, path, status, named):
    """With the status of its kind, and what was wrong."""
    response = http.get(path, headers=bearer("alice"))
    assert response.status_code == status
    assert named in response.json["detail"]


def test_who_comes_while_too_much_is_rebuilt_is_told_to_come_again_in_two_seconds():
    """With Retry-After."""

    class Crowded(MemoryDatabase):
        def followees(self, user_id, noted=()):  # noqa: ARG002
            raise BusyError

    response = client(FakeNodes(), Crowded()).get("/v1/timeline", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")


def test_without_its_cache_it_serves_from_the_database(http, nodes, said):
    """Slower, the same tweets; the metrics tell."""
    nodes.away = True
    assert len(http.get("/v1/timeline", headers=bearer("alice")).json["tweets"]) == len(said) - 1
    assert METRICS.get_sample_value("timeline_pages_total", {"source": "database"})


def test_openapi_describes_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    assert described(http) == served(http)
