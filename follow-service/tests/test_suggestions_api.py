"""Suggestions as a client sees them."""

import pytest

from follow_service.app import create_app
from follow_service.dynamo_remains import DynamoRemains
from follow_service.held_pages import HELD_SECONDS
from follow_service.suggestion_lists import RUN_SECONDS
from murmuration_suggested.layout import Suggestion
from murmuration_suggested.runs import Run

from .conftest import ISSUER, SETTINGS, bearer
from .memory_of_suggestions import SuggestedInMemory

RUN = Run("20261119T010000Z", 1, 1, ("star",))
LATER = Run("20261120T010000Z", 2, 2, ("star",))
FRIENDS = ("ben", "bob")
WORST = 19  # calls of DynamoDB, for a list as long as any
SUGGESTED = [f"s{n:02}" for n in range(30)]


@pytest.fixture
def kept():
    return SuggestedInMemory()


@pytest.fixture
def ticks():
    return [0.0]


@pytest.fixture
def http(graph, clock, kept, ticks):
    now = lambda: clock.now  # noqa: E731
    app = create_app(SETTINGS, graph=graph, suggested=kept, keys=ISSUER, now=now, clock=lambda: ticks[0])
    return app.test_client()


@pytest.fixture
def world(call, join, kept):
    """Ana follows Ben and Bob, and a run suggests thirty people to her."""
    join("ana", "star", *FRIENDS, *SUGGESTED)
    for friend in FRIENDS:
        call("ana", f"POST /users/{friend}/follow")
    kept.write(RUN, {"ana": [Suggestion(each, 5, FRIENDS) for each in SUGGESTED]})


@pytest.fixture
def shown(call):
    def ask(who="ana", path="/suggestions?limit=200"):
        answer = call(who, f"GET {path}")
        assert answer.status_code == 200
        return [row["user_id"] for row in answer.json["users"]]

    return ask


@pytest.mark.usefixtures("world")
def test_a_page_says_who_and_why_and_where_it_goes_on(call, shown):
    """The best first, twenty unless more are asked for."""
    first = call("ana", "GET /suggestions")
    assert first.headers["Suggestions-From"] == "run"
    assert [row["user_id"] for row in first.json["users"]] == SUGGESTED[:20]
    assert first.json["users"][0]["because"] == {"user_ids": [*FRIENDS], "count": 5}
    link = first.headers["Link"]
    rest = call("ana", f"GET {link[1 : link.index('>')].removeprefix('/v1')}")
    assert [row["user_id"] for row in rest.json["users"]] == SUGGESTED[20:]
    assert rest.json["next_cursor"] is None
    assert "Link" not in rest.headers
    assert len(shown()) == 30


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("who", "what"),
    [
        ("ana", "POST /users/s03/follow"),
        ("ana", "PUT /users/s03/block"),
        ("s03", "PUT /users/ana/block"),
        ("ana", "PUT /users/s03/mute"),
        ("s03", "PUT /users/ana/mute"),
        ("s03", "DELETE /users/me"),
        ("ana", "DELETE /suggestions/s03"),
    ],
)
def test_whatever_happened_since_is_seen_within_two_seconds(call, shown, ticks, who, what):
    """And what was looked at is held no longer; one's own dismissal is seen at once."""
    assert "s03" in shown()
    call(who, what)
    if "suggestions" not in what:
        ticks[0] += HELD_SECONDS
    assert shown() == [each for each in SUGGESTED if each != "s03"]


@pytest.mark.usefixtures("world")
def test_who_is_asked_or_does_not_want_to_be_found_is_not_suggested(call, shown):
    """A private account that was asked, and one that is not discoverable."""
    call("s01", "PUT /users/me", display_name="S", is_private=True)
    assert call("ana", "POST /users/s01/follow").status_code == 202
    call("s02", "PUT /users/me", display_name="S", discoverable=False)
    assert shown() == [each for each in SUGGESTED if each not in ("s01", "s02")]


@pytest.mark.usefixtures("world")
def test_a_dismissal_is_for_good(call, shown, kept, aws, ticks):
    """Also when Redis has forgotten it; repeated it keeps its time, and it is nobody else's."""
    for _ in range(2):
        assert call("ana", "DELETE /suggestions/s05").status_code == 204
    (row,) = aws.items("dismissals")
    assert (row["user_id"]["S"], row["dismissed_id"]["S"]) == ("ana", "s05")
    kept.dismissed.clear()
    ticks[0] += HELD_SECONDS
    assert "s05" not in shown()
    kept.write(LATER, {"ana": [Suggestion("s05")], "ben": [Suggestion("s05")]})
    ticks[0] += RUN_SECONDS
    assert (shown(), shown("ben")) == ([], ["s05"])
    for who in ("ana", "nobody", "no{body"):
        assert call("ana", f"DELETE /suggestions/{who}").status_code == 204
    assert len(aws.items("dismissals")) == 2  # of nobody, too: who is somebody is not told


@pytest.mark.usefixtures("world")
def test_who_has_no_account_dismisses_nobody(call, aws):
    """Their rows would stay for good."""
    call("ben", "DELETE /users/me")
    for who, code in (("ben", "account-deleted"), ("stranger", "no-profile")):
        refused = call(who, "DELETE /suggestions/s05")
        assert (refused.status_code, refused.json["code"]) == (403, code)
    assert aws.items("dismissals") == []


@pytest.mark.usefixtures("world")
def test_who_leaves_takes_their_dismissals_along(call, aws):
    """What others dismissed stays theirs."""
    call("ana", "DELETE /suggestions/s05")
    call("ben", "DELETE /suggestions/ana")
    call("ana", "DELETE /users/me")
    remains = DynamoRemains(aws.client(), "")
    place = None
    while True:
        rows, place = remains.remains("ana", place)
        for row in rows:
            remains.delete(row)
        if place is None:
            break
    assert [row["user_id"]["S"] for row in aws.items("dismissals")] == ["ben"]


@pytest.mark.usefixtures("world")
def test_expand_brings_the_profiles_of_all_who_are_named(call):
    """Of those who are suggested, then of the reasons, each once, as lists show them."""
    plain = call("ana", "GET /suggestions?limit=2").json
    authors = [call("ana", f"GET /users/{each}").json for each in ("s00", "s01", *FRIENDS)]
    assert call("ana", "GET /suggestions?limit=2&expand=author").json == plain | {"authors": authors}
    viewed = [call("ana", f"GET /users/{each}?expand=viewer").json for each in ("s00", "s01", *FRIENDS)]
    assert call("ana", "GET /suggestions?limit=2&expand=viewer").json["authors"] == viewed


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("how", ["PUT /users/ana/block", "DELETE /users/me"])
def test_reasons_that_are_gone_are_not_named(call, ticks, how):
    """Whom one follows no more, and who blocked or left."""
    call("ana", "DELETE /users/ben/follow")
    ticks[0] += HELD_SECONDS
    assert call("ana", "GET /suggestions?limit=1").json["users"][0]["because"] == {"user_ids": ["bob"], "count": 4}
    call("bob", how)
    ticks[0] += HELD_SECONDS
    assert call("ana", "GET /suggestions?limit=1").json["users"][0]["because"] == {"user_ids": [], "count": 3}


def test_a_newcomer_is_shown_two_hops_and_then_everybody(call, join, kept, shown):
    """Nobody has to have a list, a profile or a friend."""
    join("ben", "cleo", "star", "zoe")
    kept.write(RUN, {})
    call("zoe", "POST /users/ben/follow")
    call("ben", "POST /users/cleo/follow")
    answer = call("zoe", "GET /suggestions")
    assert answer.headers["Suggestions-From"] == "online"
    assert answer.json["users"] == [
        {"user_id": "cleo", "because": {"user_ids": ["ben"], "count": 1}},
        {"user_id": "star", "because": {"user_ids": [], "count": 0}},
    ]
    assert shown("stranger") == shown("ben") == ["star"]


@pytest.mark.usefixtures("world")
def test_a_redis_that_is_away_is_done_without(call, shown, kept):
    """From the tables, and the header says so; a dismissal is written and seen all the same."""
    call("ben", "POST /users/s07/follow")
    kept.is_away = True
    answer = call("ana", "GET /suggestions")
    assert (answer.status_code, answer.headers["Suggestions-From"]) == (200, "online")
    assert [row["user_id"] for row in answer.json["users"]] == ["s07"]
    assert call("ana", "DELETE /suggestions/s07").status_code == 204
    assert shown() == []


def test_without_a_redis_of_suggestions_there_are_some_all_the_same(graph, clock, call, join):
    """It is optional: then every list is made online."""
    join("ben", "cleo", "zoe")
    call("zoe", "POST /users/ben/follow")
    call("ben", "POST /users/cleo/follow")
    http = create_app(SETTINGS, graph=graph, keys=ISSUER, now=lambda: clock.now).test_client()
    answer = http.get("/v1/suggestions", headers=bearer("zoe"))
    assert [row["user_id"] for row in answer.json["users"]] == ["cleo"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "cursor=x", "expand=x"])
def test_a_wrong_query_is_named(call, query):
    """As on every list."""
    refused = call("ana", f"GET /suggestions?{query}")
    assert refused.status_code == 400
    assert refused.json["errors"][0]["parameter"] == query.partition("=")[0]


def test_a_page_asks_the_tables_so_often_at_most(call, join, kept, aws):
    """Twice, and not again within a second; the worst list, of which nobody may be suggested any more, is bounded."""
    join("ana", *FRIENDS, *SUGGESTED)
    gone = [f"g{n}" for n in range(200)]
    kept.write(RUN, {"ana": [Suggestion(each, 5, FRIENDS) for each in SUGGESTED], "ben": [*map(Suggestion, gone)]})
    for who, what, calls in (
        ("ana", "/suggestions", 2),
        ("ana", "/suggestions", 0),
        ("ana", "/suggestions?expand=author", 2),
        ("ben", "/suggestions", WORST),
    ):
        aws.calls.clear()
        assert call(who, f"GET {what}").status_code == 200
        assert aws.calls.total() == calls
