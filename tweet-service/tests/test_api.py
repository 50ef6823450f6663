"""What a client sees."""

import pytest

from murmuration_testkit.openapi import described, served
from tweet_service.app import create_app
from tweet_service.snowflake import Snowflakes

from .conftest import ISSUER, SETTINGS, bearer


def say(http, who, text="hello"):
    return http.post("/v1/tweets", json={"text": text}, headers=bearer(who))


def test_a_tweet_is_written_and_found_where_it_says(http, clock):
    """201 with the tweet and its Location; ids are strings."""
    response = say(http, "alice", "hello 👋")
    assert response.status_code == 201
    tweet = response.json
    assert (tweet["author_id"], tweet["text"], tweet["created_at"]) == ("alice", "hello 👋", clock.now)
    assert isinstance(tweet["tweet_id"], str)
    assert http.get(response.headers["Location"], headers=bearer("bob")).json == tweet


def test_a_repeated_request_with_its_key_is_one_tweet(http, memory):
    """201 each time with the same tweet; another text under the same key is 422."""
    headers = bearer("alice") | {"Idempotency-Key": "once"}
    answers = [http.post("/v1/tweets", json={"text": "hello"}, headers=headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert len({answer.json["tweet_id"] for answer in answers}) == len(memory.rows) == 1
    assert http.post("/v1/tweets", json={"text": "bye"}, headers=headers).status_code == 422
    assert http.post("/v1/tweets", json={"text": "bye"}, headers=headers | {"Idempotency-Key": ""}).status_code == 400


def test_without_a_worker_number_nothing_is_written(memory, accounts):
    """503, until one is reserved."""
    parts = {"tweets": memory, "accounts": accounts, "ids": Snowflakes(lambda: 1), "keys": ISSUER}
    response = say(create_app(SETTINGS, **parts).test_client(), "alice")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert not memory.rows


def test_who_has_no_profile_says_nothing(http, memory, accounts):
    """403 that says so, until they have one; deleting needs none."""
    refused = say(http, "dave")
    assert (refused.status_code, refused.json["type"]) == (403, "/problems/no-profile")
    assert not memory.rows
    accounts.join("dave")
    tweet_id = say(http, "dave").json["tweet_id"]
    accounts.delete("dave", 1)
    assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("dave")).status_code == 204


def test_who_has_deleted_their_account_says_nothing_more(http, accounts):
    """403 with another code."""
    accounts.delete("bob", 1)
    refused = say(http, "bob")
    assert (refused.status_code, refused.json["type"]) == (403, "/problems/account-deleted")


@pytest.mark.parametrize("host", ["evil.example", "a/b", "x:y"])
def test_where_a_tweet_is_does_not_depend_on_the_host_that_was_asked(http, host):
    """E18: a path, which stands for whatever the client asked."""
    headers = bearer("alice") | {"Host": host, "X-Forwarded-Host": host, "X-Forwarded-Proto": "ftp"}
    said = http.post("/v1/tweets?_external=1&_scheme=ftp&_anchor=x", json={"text": "hi"}, headers=headers)
    assert said.headers["Location"] == f"/v1/tweets/{said.json['tweet_id']}"


def test_a_deleted_tweet_is_gone_and_stays_deletable(http):
    """204 each time for its author, 404 for readers, 403 for anybody else."""
    tweet_id = say(http, "alice").json["tweet_id"]
    assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("bob")).status_code == 403
    for _ in range(2):
        assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("alice")).status_code == 204
    assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer("alice")).status_code == 404
    assert http.get("/v1/users/alice/tweets", headers=bearer("bob")).json == {"tweets": [], "next_cursor": None}


def test_a_private_author_is_read_by_followers_and_themselves(http, accounts):
    """Others learn of no tweet (404), and of the list that it is not for them (403)."""
    tweet_id = say(http, "alice").json["tweet_id"]
    accounts.set_private("alice")
    accounts.add_follow("bob", "alice")
    for reader in ("alice", "bob"):
        assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer(reader)).status_code == 200
        assert len(http.get("/v1/users/alice/tweets", headers=bearer(reader)).json["tweets"]) == 1
    for ask in (http.get, http.delete):
        assert ask(f"/v1/tweets/{tweet_id}", headers=bearer("carol")).status_code == 404
    refused = http.get("/v1/users/alice/tweets", headers=bearer("carol"))
    assert refused.status_code == 403
    assert "alice is private." in refused.json["detail"]
    assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("bob")).status_code == 403


@pytest.mark.parametrize("private", [False, True])
def test_to_the_blocked_an_author_is_as_an_id_that_nobody_has(http, accounts, private):
    """Each answer is what it would be if there were no such author, and no such tweet."""
    tweet_id, own = say(http, "alice").json["tweet_id"], say(http, "bob").json["tweet_id"]
    if private:
        accounts.set_private("alice")
        accounts.add_follow("bob", "alice")  # as an older release may have written beside the block
    accounts.add_block("alice", "bob")
    for method, path, ids in (
        ("GET", "/v1/users/{}/tweets?expand=author", ("alice", "nobody")),
        ("GET", "/v1/users/{}/tweets?cursor=MQ", ("alice", "nobody")),
        ("GET", "/v1/tweets/{}", (tweet_id, "1" * 19)),
        ("DELETE", "/v1/tweets/{}", (tweet_id, "1" * 19)),
        ("GET", f"/v1/tweets?id={own}&id={{}}&expand=author", (tweet_id, "1" * 19)),
    ):
        answers = [http.open(path.format(each), method=method, headers=bearer("bob")) for each in ids]
        told = [
            (each.status_code, {**each.json, "request_id": ""}, each.headers.get("Cache-Control")) for each in answers
        ]
        assert str(told[0]).replace(ids[0], ids[1]) == str(told[1]), path
    assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer("ann")).status_code == (404 if private else 200)


def test_whom_the_reader_blocks_they_do_not_read(http, accounts):
    """403 that says so, also of a private author's list; of a private author's tweet they learn nothing."""
    tweet_id, hidden = say(http, "alice").json["tweet_id"], say(http, "ann").json["tweet_id"]
    accounts.set_private("ann")
    for each in ("alice", "ann"):
        accounts.add_block("bob", each)
    for ask, path in (
        (http.get, f"/v1/tweets/{tweet_id}"),
        (http.delete, f"/v1/tweets/{tweet_id}"),
        (http.get, "/v1/users/alice/tweets"),
        (http.get, "/v1/users/ann/tweets"),
    ):
        refused = ask(path, headers=bearer("bob"))
        assert (refused.status_code, refused.json["code"]) == (403, "blocking")
    for gone in (hidden, "1" * 19):
        assert http.get(f"/v1/tweets/{gone}", headers=bearer("bob")).json["code"] == "no-tweet"
    assert http.get(f"/v1/tweets?id={tweet_id}&id={hidden}", headers=bearer("bob")).json["tweets"] == []
    assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer("carol")).status_code == 200
    http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("alice"))
    assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer("bob")).status_code == 404


def test_each_route_asks_once_who_may_read(http, accounts):
    """However many authors there are."""
    ids = [say(http, who).json["tweet_id"] for who in ("alice", "ann", "bob")]
    for path in (
        f"/tweets/{ids[0]}",
        "/users/alice/tweets?expand=author",
        "/tweets?expand=author&id=" + "&id=".join(ids),
    ):
        accounts.asked = 0
        assert http.get(f"/v1{path}", headers=bearer("bob")).status_code == 200
        assert accounts.asked == 1


def test_a_deleted_authors_tweets_are_gone_before_they_are_erased(http, accounts):
    """404 at once, for everybody; they may still delete a tweet themselves."""
    tweet_id = say(http, "alice").json["tweet_id"]
    accounts.delete("alice", 1)
    for reader in ("alice", "bob"):
        assert http.get(f"/v1/tweets/{tweet_id}", headers=bearer(reader)).status_code == 404
        assert http.get("/v1/users/alice/tweets", headers=bearer(reader)).json["code"] == "no-user"
    assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("bob")).status_code == 404
    assert http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("alice")).status_code == 204


def test_many_tweets_come_at_once_in_the_order_asked(http, accounts):
    """Each once; what is unknown, deleted, or of somebody whom the caller may not read, is left out."""
    for who in ("carol", "dave", "erin"):
        accounts.join(who)
    ids = {who: say(http, who).json["tweet_id"] for who in ("alice", "bob", "carol", "dave", "erin")}
    gone = say(http, "alice").json["tweet_id"]
    http.delete(f"/v1/tweets/{gone}", headers=bearer("alice"))
    for private in ("alice", "bob", "carol"):
        accounts.set_private(private)
    accounts.add_follow("alice", "bob")
    accounts.delete("dave", 1)
    asked = [ids["erin"], "1" * 19, "x" * 3_000, "", *ids.values(), gone, ids["erin"]]
    path = "/v1/tweets?" + "&".join(f"id={each}" for each in asked)
    shown = http.get(path, headers=bearer("alice")).json
    assert [tweet["author_id"] for tweet in shown["tweets"]] == ["erin", "alice", "bob"]
    for tweet in shown["tweets"]:
        assert tweet == http.get(f"/v1/tweets/{tweet['tweet_id']}", headers=bearer("alice")).json
    assert [tweet["author_id"] for tweet in http.get(path, headers=bearer("carol")).json["tweets"]] == ["erin", "carol"]


def test_tweets_bring_their_authors_profiles_if_they_are_asked_for(http, accounts):
    """Each once, in the order of the tweets; one who has none is left out; a plain page has none."""
    ids = [say(http, who).json["tweet_id"] for who in ("alice", "bob", "alice")]
    asked = "&".join(f"id={each}" for each in ids)
    shown = http.get(f"/v1/tweets?{asked}&expand=author", headers=bearer("ann")).json
    assert [profile["user_id"] for profile in shown["authors"]] == ["alice", "bob"]
    assert shown["authors"][0]["display_name"] == "Somebody"
    page = http.get("/v1/users/alice/tweets?expand=author&limit=1", headers=bearer("ann"))
    assert page.json["authors"] == shown["authors"][:1]
    assert "expand=author" in page.headers["Link"]
    for path in (f"/v1/tweets?{asked}", "/v1/users/alice/tweets"):
        assert "authors" not in http.get(path, headers=bearer("ann")).json
    assert http.get("/v1/users/nobody/tweets?expand=author", headers=bearer("ann")).status_code == 404
    del accounts.profiles["alice"]
    shown = http.get(f"/v1/tweets?{asked}&expand=author", headers=bearer("ann")).json
    assert (len(shown["tweets"]), [profile["user_id"] for profile in shown["authors"]]) == (3, ["bob"])


@pytest.mark.parametrize("query", ["", "?expand=author", "&".join(["?id=1", *["id=1"] * 100]), "?id=1&expand=x"])
def test_a_hundred_tweets_at_most_and_one_at_least(http, query):
    """400 that names the parameter."""
    response = http.get(f"/v1/tweets{query}", headers=bearer("alice"))
    assert (response.status_code, response.json["type"]) == (400, "/problems/bad-query")


def test_a_tweet_is_not_sent_again_and_one_that_is_gone_is_not_said_to_be_there(http):
    """304 for whoever may read it, as long as they may."""
    tweet_id = say(http, "alice").json["tweet_id"]
    tag = http.get(f"/v1/tweets/{tweet_id}", headers=bearer("bob")).headers["ETag"]
    asked = bearer("bob") | {"If-None-Match": tag}
    assert http.get(f"/v1/tweets/{tweet_id}", headers=asked).status_code == 304
    http.delete(f"/v1/tweets/{tweet_id}", headers=bearer("alice"))
    assert http.get(f"/v1/tweets/{tweet_id}", headers=asked).status_code == 404


def test_an_authors_tweets_link_to_their_next_page(http, clock):
    """next_cursor and Link lead to the same page, down to the first tweet."""
    for text in ("one", "two", "three"):
        clock.now += 1
        say(http, "alice", text)
    first = http.get("/v1/users/alice/tweets?limit=2", headers=bearer("bob"))
    assert [tweet["text"] for tweet in first.json["tweets"]] == ["three", "two"]
    link = first.headers["Link"]
    second = http.get(link[1 : link.index(">")], headers=bearer("bob"))
    assert [tweet["text"] for tweet in second.json["tweets"]] == ["one"]
    assert second.json["next_cursor"] is None


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({}, 400, "text"),
        ({"text": "A", "colour": "red"}, 400, "colour"),
        ({"text": 5}, 400, "text"),
        ({"text": ""}, 422, "text"),
        ({"text": "x" * 281}, 422, "281"),
    ],
)
def test_a_bad_tweet_is_named(http, memory, body, status, named):
    """The problem says which field, and nothing is written."""
    response = http.post("/v1/tweets", json=body, headers=bearer("alice"))
    assert response.status_code == status
    assert named in response.json["detail"]
    assert response.json["errors"][0]["pointer"] == f"#/{next(reversed(body), 'text')}"
    assert not memory.rows


@pytest.mark.parametrize(
    ("method", "path", "status", "named"),
    [
        ("get", "/v1/tweets/1", 404, "1"),
        ("get", "/v1/tweets/" + "9" * 3_000, 404, "999"),
        ("delete", "/v1/tweets/x", 404, "x"),
        ("get", "/v1/users/nobody/tweets", 404, "nobody"),
        ("get", "/v1/users/no{body/tweets", 404, "no{body"),
        ("get", "/v1/users/alice/tweets?limit=201", 400, "limit"),
        ("get", "/v1/users/alice/tweets?cursor=x", 400, "cursor"),
    ],
)
def test_what_cannot_be_done_is_a_problem(http, method, path, status, named):
    """With the status of its kind, and what was wrong."""
    response = getattr(http, method)(path, headers=bearer("alice"))
    assert response.status_code == status
    assert named in response.json["detail"]


def test_openapi_describes_every_route_and_no_other(http):
    """The description is data, so it is held to the routes."""
    assert described(http) == served(http)


def test_a_repeated_request_whose_tweet_was_deleted_does_not_say_that_it_is_there(http):
    """201 would name a tweet that nobody can read."""
    request = {"json": {"text": "hello"}, "headers": bearer("alice") | {"Idempotency-Key": "once"}}
    there = http.post("/v1/tweets", **request).headers["Location"]
    assert http.delete(there, headers=bearer("alice")).status_code == 204
    again = http.post("/v1/tweets", **request)
    assert (again.status_code, again.json["type"]) == (409, "/problems/tweet-deleted")


def test_whoever_deleted_their_account_is_refused_though_they_tweeted_just_before(http, accounts):
    """201 would name a tweet that is gone."""
    assert http.post("/v1/tweets", json={"text": "hello"}, headers=bearer("alice")).status_code == 201
    accounts.delete("alice", 1)
    assert http.post("/v1/tweets", json={"text": "hello"}, headers=bearer("alice")).status_code == 403
