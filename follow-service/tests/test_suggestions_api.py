"""Suggestions as a client sees them."""

import pytest

from contracts import BlockChanged, FollowChanged, MuteChanged, Source, Tombstone
from follow_service import keeper
from follow_service.app import create_app
from follow_service.dynamo_remains import DynamoRemains
from follow_service.kept_pages import KeptPages
from follow_service.suggestion_lists import RUN_SECONDS
from murmuration_suggested.layout import Suggestion
from murmuration_suggested.runs import Run
from murmuration_testkit.unkind_aws import Unkindness

from .conftest import ISSUER, SETTINGS, bearer
from .memory import MemoryCache, MemoryPages
from .memory_of_suggestions import SuggestedInMemory

SOURCE = Source("shard-1", 1)
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
def in_redis():
    """Where pages are kept, for all processes."""
    return MemoryPages()


@pytest.fixture
def process(graph, clock, kept, ticks, in_redis):
    """Start one that rests on what is kept, or does not; return its client, and its pages."""

    def start(*, is_settled=True):
        pages, now = KeptPages(in_redis, lambda: is_settled), lambda: clock.now
        app = create_app(
            SETTINGS, graph=graph, pages=pages, suggested=kept, keys=ISSUER, now=now, clock=lambda: ticks[0]
        )
        return app.test_client(), pages

    return start


@pytest.fixture
def http_and_pages(process):
    return process()


@pytest.fixture
def http(http_and_pages):
    return http_and_pages[0]


@pytest.fixture
def hear(in_redis, http_and_pages):
    """Have the keeper hear of something, and the process of that."""

    def apply(event):
        in_redis.now += 1
        keeper.apply(MemoryCache(), in_redis, None, [event], 0)
        http_and_pages[1].refresh()

    return apply


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


HAPPENS = {
    "POST /users/s03/follow": lambda: FollowChanged("e", SOURCE, "ana", "s03", following=True),
    "PUT /users/s03/block": lambda: BlockChanged("e", SOURCE, "ana", "s03", blocking=True),
    "s03 PUT /users/ana/block": lambda: BlockChanged("e", SOURCE, "s03", "ana", blocking=True),
    "PUT /users/s03/mute": lambda: MuteChanged("e", SOURCE, "ana", "s03", muting=True),
    "s03 PUT /users/ana/mute": lambda: MuteChanged("e", SOURCE, "s03", "ana", muting=True),
    "s03 DELETE /users/me": lambda: Tombstone("e", SOURCE, "s03", 9),
}


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("what", HAPPENS)
def test_whatever_happened_since_is_seen_once_it_is_heard(call, shown, hear, aws, what):
    """A page is kept until then, and one that was looked up again is kept, too."""
    assert "s03" in shown()
    *who, method, path = what.split(" ")
    call(*(who or ["ana"]), f"{method} {path}")
    hear(HAPPENS[what]())
    aws.calls.clear()
    assert shown() == [each for each in SUGGESTED if each != "s03"]
    assert aws.calls.total()
    hear(FollowChanged("e", SOURCE, "zoe", "s04", following=True))  # nothing of Ana's
    call("ana", "PUT /users/s09/mute")
    assert "s09" in shown()


@pytest.mark.usefixtures("world")
def test_ones_own_dismissal_is_seen_at_once_in_every_process(call, shown, process):
    """No event tells of it."""
    other, _ = process()
    ask = lambda: other.get("/v1/suggestions?limit=200", headers=bearer("ana")).json["users"]  # noqa: E731
    assert [row["user_id"] for row in ask()] == shown() == SUGGESTED
    call("ana", "DELETE /suggestions/s03")
    assert [row["user_id"] for row in ask()] == shown() == [each for each in SUGGESTED if each != "s03"]


@pytest.mark.usefixtures("world")
def test_a_dismissal_that_redis_did_not_hear_is_told_when_it_is_back(call, shown, in_redis, http_and_pages):
    """The row is there, and nobody is refused."""
    assert "s03" in shown()
    in_redis.is_away = True
    assert call("ana", "DELETE /suggestions/s03").status_code == 204
    assert "s03" not in shown()
    in_redis.is_away = False
    http_and_pages[1].refresh()
    assert "s03" not in shown()


@pytest.mark.usefixtures("world")
def test_a_dismissal_whose_answer_is_lost_shows_nobody_who_was_dismissed(call, shown, aws):
    """The row may be there, and no event tells of it."""
    assert "s03" in shown()
    aws.order(Unkindness.LOST_ANSWER, "PutItem", "dismissals")
    assert call("ana", "DELETE /suggestions/s03").status_code == 503
    assert "s03" not in shown()


@pytest.mark.usefixtures("world")
def test_what_is_not_known_to_be_settled_is_looked_up_each_time(call, shown, process):
    """Whatever is kept: a block holds while the keeper stands still."""
    assert "s03" in shown()
    late, _ = process(is_settled=False)
    for number, gone in enumerate(("s03", "s04"), 1):
        call(gone, "PUT /users/ana/block")
        rows = late.get("/v1/suggestions?limit=200", headers=bearer("ana")).json["users"]
        assert [row["user_id"] for row in rows] == SUGGESTED[:3] + SUGGESTED[3 + number :]


@pytest.mark.usefixtures("world")
def test_a_kept_page_is_answered_as_it_was_looked_up(call, aws):
    """Word for word, with its link and its source; the next page is another one, and so is that of a new run."""
    first = call("ana", "GET /suggestions?limit=5")
    aws.calls.clear()
    again = call("ana", "GET /suggestions?limit=5")
    assert (again.json, again.headers["Link"], again.headers["Suggestions-From"]) == (
        first.json,
        first.headers["Link"],
        "run",
    )
    assert not aws.calls
    rest = call("ana", f"GET /suggestions?limit=5&cursor={first.json['next_cursor']}")
    assert [row["user_id"] for row in rest.json["users"]] == SUGGESTED[5:10]


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("expand", ["author", "viewer"])
def test_nobody_who_left_is_named_without_their_profile(call, expand):
    """A page that is kept may name them a moment longer; it is looked up anew where profiles are asked for."""
    query = f"GET /suggestions?limit=3&expand={expand}"
    assert len(call("ana", query).json["authors"]) == 5
    call("s01", "DELETE /users/me")
    answer = call("ana", query).json
    assert [row["user_id"] for row in answer["users"]] == ["s00", "s02", "s03"]
    assert [row["user_id"] for row in answer["authors"]] == ["s00", "s02", "s03", *FRIENDS]


@pytest.mark.usefixtures("world")
def test_who_is_asked_or_does_not_want_to_be_found_is_not_suggested(call, shown):
    """A private account that was asked, and one that is not discoverable."""
    call("s01", "PUT /users/me", display_name="S", is_private=True)
    assert call("ana", "POST /users/s01/follow").status_code == 202
    call("s02", "PUT /users/me", display_name="S", discoverable=False)
    assert shown() == [each for each in SUGGESTED if each not in ("s01", "s02")]


@pytest.mark.usefixtures("world")
def test_a_dismissal_is_for_good(call, shown, kept, aws, ticks):
    """In every run to come; repeated it keeps its time, and it is nobody else's."""
    for _ in range(2):
        assert call("ana", "DELETE /suggestions/s05").status_code == 204
    (row,) = aws.items("dismissals")
    assert (row["user_id"]["S"], row["dismissed_id"]["S"]) == ("ana", "s05")
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
def test_reasons_that_are_gone_are_not_named(call, hear, how):
    """Whom one follows no more, and who blocked or left."""
    assert len(call("ana", "GET /suggestions?limit=1").json["users"][0]["because"]["user_ids"]) == 2
    call("ana", "DELETE /users/ben/follow")
    hear(FollowChanged("e", SOURCE, "ana", "ben", following=False))
    assert call("ana", "GET /suggestions?limit=1").json["users"][0]["because"] == {"user_ids": ["bob"], "count": 4}
    call("bob", how)
    hear(
        Tombstone("e", SOURCE, "bob", 9) if how.startswith("DELETE") else BlockChanged("e", SOURCE, "bob", "ana", True)
    )
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
    """Twice, and not again while it is kept; the worst list, of which nobody may be suggested any more, is bounded."""
    join("ana", *FRIENDS, *SUGGESTED)
    gone = [f"g{n}" for n in range(200)]
    kept.write(RUN, {"ana": [Suggestion(each, 5, FRIENDS) for each in SUGGESTED], "ben": [*map(Suggestion, gone)]})
    for who, what, calls in (
        ("ana", "/suggestions", 2),
        ("ana", "/suggestions", 0),
        ("ana", "/suggestions?limit=19&expand=author", 2),
        ("ana", "/suggestions?limit=19&expand=author", 1),  # without a cache of profiles
        ("ben", "/suggestions", WORST),
    ):
        aws.calls.clear()
        assert call(who, f"GET {what}").status_code == 200
        assert aws.calls.total() == calls
