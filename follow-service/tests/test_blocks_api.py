"""Blocks and mutes as a client sees them, on either side."""

import json
from dataclasses import asdict

import pytest

from follow_service.people import NO_TIES

from .rows import blocks, follows, requests

ROUTES = [
    "GET /users/{}",
    "GET /users/{}?expand=viewer",
    "GET /users?id={}",
    "GET /relationships?id={}",
    "GET /users/{}/followers",
    "GET /users/{}/following",
    "GET /users/{}/friends",
    "GET /users/{}/mutual-followers/bob",
    "GET /users/bob/mutual-followers/{}",
    "GET /users/carol/followers",
    "GET /users/carol/following?expand=viewer",
    "GET /users/carol/friends",
    "GET /users/me/follow-requests",
    "GET /users/me/follow-requests/sent",
    "GET /users/me/blocks?expand=viewer",
    "GET /users/me/mutes?expand=viewer",
    "POST /users/{}/follow",
    "DELETE /users/{}/follow",
    "DELETE /users/me/followers/{}",
    "POST /users/me/follow-requests/{}",
    "DELETE /users/me/follow-requests/{}",
    "PUT /users/{}/block",
    "GET /relationships?id={}",
    "GET /users/me/blocks?expand=viewer",
    "PUT /users/{}/mute",
    "GET /users/{}",
    "GET /users/me/mutes?expand=viewer",
    "DELETE /users/{}/mute",
    "DELETE /users/{}/block",
]


@pytest.fixture
def people(call, join):
    """Alice, Bob and Carol follow each other; Alice and Bob ask to follow Dave, who asks nobody."""
    join("alice", "bob", "carol")
    join("dave", is_private=True)
    for who in ("alice", "bob", "carol"):
        for other in {"alice", "bob", "carol", "dave"} - {who}:
            if (who, other) != ("carol", "dave"):
                call(who, f"POST /users/{other}/follow")


def names(response):
    return {row["user_id"] for row in response.json["users"]}


def answered(response, as_if):
    """Return all of an answer that may tell something, as if it were about this user."""
    body = json.loads(response.data or "null")
    if isinstance(body, dict):
        body.pop("request_id", None)
    kept = {name: response.headers.get(name) for name in ("Content-Type", "Cache-Control", "Link", "ETag")}
    if "GET" not in as_if:
        kept.pop("ETag")
    return response.status_code, json.dumps(body).replace(as_if, "nobody"), kept


@pytest.mark.parametrize("left_over", [False, True])
def test_no_answer_tells_of_a_block(call, people, aws, left_over):  # noqa: ARG001
    """To the blocked each route answers about the blocker what it answers about an id that nobody ever had.

    Also when a row is still there that should not be: an index that lags, a write of an older release.
    """
    call("alice", "PUT /users/bob/block")
    call("dave", "PUT /users/bob/block")
    if left_over:
        for table, when in (("followers", "followed_at"), ("follow_requests", "requested_at")):
            for who, whom in (("alice", "bob"), ("bob", "alice"), ("bob", "dave")):
                row = {"follower_id": {"S": who}, "followee_id": {"S": whom}, when: {"N": "1"}}
                aws.put(table, row)
    for route in ROUTES:
        for blocker in ("alice", "dave"):
            told = [answered(call("bob", route.format(each)), each) for each in (blocker, "nobody")]
            if "{}" in route:
                assert told[0] == told[1], route
            else:
                assert blocker not in told[0][1], route
    assert call("bob", "GET /users/carol").status_code == 200


def test_a_block_severs_both_follows_and_requests(call, people, aws):  # noqa: ARG001
    """And nothing else; repeated, it changes nothing, and what it severed does not come back by itself."""
    before = follows(aws), requests(aws)
    for who, whom in (("alice", "bob"), ("dave", "alice")):
        for _ in range(2):
            assert call(who, f"PUT /users/{whom}/block").status_code == 204
    assert follows(aws) == before[0] - {("alice", "bob"), ("bob", "alice")}
    assert requests(aws) == before[1] - {("alice", "dave")} == {("bob", "dave")}
    for who, whom in (("alice", "bob"), ("dave", "alice")):
        for _ in range(2):
            assert call(who, f"DELETE /users/{whom}/block").status_code == 204
    assert (blocks(aws), ("alice", "bob") in follows(aws)) == (set(), False)
    assert call("bob", "POST /users/alice/follow").status_code == 204
    assert call("alice", "POST /users/dave/follow").status_code == 202


def test_the_blocker_sees_whom_they_block_and_nothing_of_theirs(call, people):  # noqa: ARG001
    """The profile is marked; following is refused with the reason, and so are lists."""
    call("alice", "PUT /users/bob/block")
    assert call("alice", "GET /users/bob").json["blocking"]
    assert call("alice", "GET /users?id=bob").json["users"][0]["blocking"]
    refused = call("alice", "POST /users/bob/follow")
    assert (refused.status_code, refused.json["code"]) == (409, "blocking")
    for path in ("/bob/followers", "/bob/following", "/bob/friends", "/bob/mutual-followers/carol",
                 "/carol/mutual-followers/bob"):  # fmt: skip
        refused = call("alice", f"GET /users{path}")
        assert (refused.status_code, refused.json["code"]) == (403, "blocking")
    assert "bob" not in names(call("alice", "GET /users/carol/followers"))
    assert "bob" in names(call("dave", "GET /users/carol/followers"))


def test_blocks_and_mutes_are_listed_newest_first(call, join, clock):
    """With their profiles if asked; a deleted account is in no list; who blocks back is in none either."""
    join("alice", "bob", "carol", "dave", "erin")
    for what, when in (("block", "blocked_at"), ("mute", "muted_at")):
        for whom in ("bob", "carol", "bob", "dave", "erin"):
            assert call("alice", f"PUT /users/{whom}/{what}").status_code == 204
        at = clock.now
        first = call("alice", f"GET /users/me/{what}s?limit=2&expand=author").json
        assert first["users"] == [{"user_id": "erin", when: at}, {"user_id": "dave", when: at - 1}]
        assert first["authors"] == [call("alice", f"GET /users/{whom}").json for whom in ("erin", "dave")]
        second = call("alice", f"GET /users/me/{what}s?cursor={first['next_cursor']}").json
        assert [row["user_id"] for row in second["users"]] == ["carol", "bob"]
    call("erin", "DELETE /users/me")
    call("carol", "PUT /users/alice/block")
    for what in ("block", "mute"):
        assert names(call("alice", f"GET /users/me/{what}s")) == {"bob", "dave"}
        assert names(call("bob", f"GET /users/me/{what}s")) == set()


def test_a_mute_severs_nothing_and_shows_to_nobody_else(call, people):  # noqa: ARG001
    """It is seen in one's own relationships alone."""
    for _ in range(2):
        assert call("alice", "PUT /users/bob/mute").status_code == 204
    (mine,) = call("alice", "GET /relationships?id=bob").json["relationships"]
    (theirs,) = call("bob", "GET /relationships?id=alice").json["relationships"]
    assert (mine["muting"], mine["mutual"]) == (True, True)
    assert (theirs["muting"], theirs["mutual"]) == (False, True)
    call("alice", "DELETE /users/bob/mute")
    assert not call("alice", "GET /relationships?id=bob").json["relationships"][0]["muting"]


def test_relationships_tell_the_truth_after_each_answer(call, join):
    """Of both, in the order asked, each once; with unknown and deleted people and with oneself there is nothing."""
    nothing = asdict(NO_TIES)

    def between(who, whom):
        ((row),) = call(who, f"GET /relationships?id={whom}").json["relationships"]
        assert row.pop("user_id") == whom
        seen = call(who, f"GET /users/{whom}?expand=viewer")
        assert seen.status_code == 404 or seen.json["viewer"] == row
        return {name for name, holds in row.items() if holds}

    friends = {"following", "followed_by", "mutual"}
    join("alice", "bob", "gone")
    join("dave", is_private=True)
    for what, mine, theirs in (
        ("alice POST /users/bob/follow", {"following"}, {"followed_by"}),
        ("bob POST /users/alice/follow", friends, friends),
        ("alice DELETE /users/me/followers/bob", {"following"}, {"followed_by"}),
        ("alice PUT /users/bob/block", {"blocking"}, set()),
        ("alice DELETE /users/bob/block", set(), set()),
    ):
        who, _, asked = what.partition(" ")
        assert call(who, asked).status_code == 204
        assert (between("alice", "bob"), between("bob", "alice")) == (mine, theirs)
    call("alice", "POST /users/dave/follow")
    assert (between("alice", "dave"), between("dave", "alice")) == ({"requested"}, {"requested_by"})
    call("dave", "POST /users/me/follow-requests/alice")
    assert (between("alice", "dave"), between("dave", "alice")) == ({"following"}, {"followed_by"})
    call("alice", "POST /users/gone/follow")
    call("gone", "DELETE /users/me")
    asked = "&".join(f"id={each}" for each in ("dave", "gone", "nobody", "alice", "dave", "no{body"))
    told = call("alice", f"GET /relationships?{asked}").json["relationships"]
    assert [row["user_id"] for row in told] == ["dave", "gone", "nobody", "alice"]
    assert [{**row} for row in told[1:]] == [{**nothing, "user_id": each} for each in ("gone", "nobody", "alice")]
