"""Mutual followers from a search that is kept: on DynamoDB in memory, with a store that may be away."""

import pytest

from follow_service import mutual_searches, mutuals
from follow_service.dynamo_graph import dynamo_graph
from follow_service.lists import LOOKED_AT
from follow_service.mutual_searches import Pair

from .memory_of_searches import MemorySearches
from .rows import follow, profile

DEAR = mutual_searches.DEAR
PATH = "/users/alice/mutual-followers/star"


@pytest.fixture
def kept():
    return MemorySearches()


@pytest.fixture
def graph(aws, kept):
    return dynamo_graph(aws.client(), "", searches=kept)


@pytest.fixture
def circle(call, join, count):
    """Alice follows b0 … b9, and all but b9 follow star, who has many more followers; newest first."""
    others = [f"b{n}" for n in range(10)]
    join("alice", "star", "carol", *others)
    for other in others:
        call("alice", f"POST /users/{other}/follow")
        if other != "b9":
            call(other, "POST /users/star/follow")
    count("alice", following=10)
    count("star", followers=DEAR + 1)
    return others[-2::-1]


@pytest.fixture
def pages(call):
    """Page through a list; return whom each page names, and each one's age."""

    def walk(who, path, limit):
        found, ages, cursor = [], [], ""
        while True:
            answer = call(who, f"GET {path}?limit={limit}{cursor}")
            assert answer.status_code == 200
            found += [row["user_id"] for row in answer.json["users"]]
            ages.append(answer.headers.get("Age"))
            if answer.json["next_cursor"] is None:
                return found, ages
            cursor = f"&cursor={answer.json['next_cursor']}"

    return walk


def searched(aws):
    """Return how often whom somebody follows, or who follows them, was read."""
    return aws.calls["Query", "followers"]


def test_a_search_is_made_once_and_then_kept(circle, pages, aws):
    """Whoever asks, and from whichever page on."""
    assert pages("alice", PATH, 20) == (circle, [None])
    aws.calls.clear()
    for who, limit in (("alice", 20), ("carol", 4), ("carol", 9)):
        found, ages = pages(who, PATH, limit)
        assert found == circle
        assert None not in ages
    assert searched(aws) == 0


def test_to_walk_through_a_list_once_is_not_to_ask_for_it_again(circle, pages, kept):
    """A day is for a search whose first page somebody wants once more."""
    for lives in (mutual_searches.FIRST_SECONDS, mutual_searches.SECONDS):
        assert pages("alice", PATH, 4)[0] == circle
        assert {*kept.lives.values()} == {lives}


def test_a_page_says_how_old_its_search_is(circle, call, clock):
    """From its beginning, however often it was shown, or gone on with, since."""
    assert "Age" not in call("alice", f"GET {PATH}").headers
    began = clock.now
    for hours in (1, 23):
        clock.now = began + hours * 3_600_000 - 1
        answer = call("carol", f"GET {PATH}")
        assert answer.headers["Age"] == str(hours * 3_600)
        assert [row["user_id"] for row in answer.json["users"]] == circle
    clock.now = began - 5_000
    assert call("carol", f"GET {PATH}").headers["Age"] == "0"


def test_who_came_since_shows_in_the_next_search(circle, pages, call, kept):
    pages("alice", PATH, 20)
    call("b9", "POST /users/star/follow")
    assert pages("alice", PATH, 20)[0] == circle
    kept.texts.clear()
    assert pages("alice", PATH, 20)[0] == ["b9", *circle]


@pytest.mark.parametrize(
    ("who", "happens"),
    [
        ("b4", "PUT /users/alice/block"),
        ("b4", "PUT /users/carol/block"),
        ("b4", "PUT /users/star/block"),
        ("star", "PUT /users/b4/block"),
        ("alice", "PUT /users/b4/block"),
        ("carol", "PUT /users/b4/block"),
        ("b4", "DELETE /users/me"),
        ("b4", "DELETE /users/star/follow"),
        ("alice", "DELETE /users/b4/follow"),
        ("star", "DELETE /users/me/followers/b4"),
    ],
)
@pytest.mark.parametrize("limit", [2, 20])
def test_a_kept_search_shows_nobody_who_is_hidden_or_has_left(circle, pages, call, who, happens, limit):
    """At once: a block of the caller or of either of the two, a deleted account, and a follow that ended."""
    pages("carol", PATH, 20)
    assert call(who, happens).status_code == 204
    found, ages = pages("carol", PATH, limit)
    assert found == [each for each in circle if each != "b4"]
    assert None not in ages


@pytest.mark.usefixtures("circle")
@pytest.mark.parametrize("owner", ["alice", "star"])
@pytest.mark.parametrize("path", [PATH, "/users/OWNER/friends"])
def test_a_kept_search_opens_no_private_account_and_nobody_who_blocks(pages, call, count, owner, path):
    """Either of the two may turn private, or block whoever asks, after they have read it."""
    path = path.replace("OWNER", owner)
    count(owner, followers=2 * DEAR)
    pages("carol", path, 20)
    call(owner, "PUT /users/me", display_name="Private", is_private=True)
    refused = call("carol", f"GET {path}")
    assert (refused.status_code, refused.json["code"]) == (403, "private-account")
    assert call(owner, f"GET {path}").headers["Age"]
    call(owner, "PUT /users/me", display_name="Open", is_private=False)
    call(owner, "PUT /users/carol/block")
    assert call("carol", f"GET {path}").status_code == 404


def test_of_others_with_fewer_followers_nothing_is_kept(circle, pages, count, kept):
    count("star", followers=-1)
    for _ in range(2):
        assert pages("alice", PATH, 4) == (circle, [None, None, None])
    assert not kept.texts
    count("star", followers=1)
    pages("alice", PATH, 4)
    assert kept.texts
    count("star", followers=-1)
    assert pages("alice", PATH, 4) == (circle, [None, None, None])


def test_all_is_searched_anew_while_the_store_is_away(circle, pages, kept):
    pages("alice", PATH, 4)
    kept.is_away = True
    assert pages("alice", PATH, 4) == (circle, [None, None, None])


def test_nobody_is_found_once_for_all_who_ask(aws, call, join, count):
    """The dearest search, of 5,000 candidates of whom nobody is what is asked for, is made once a day."""
    join("alice", "star", "carol")
    for n in range(mutuals.LOOKED_AT):
        aws.put("followers", follow(f"c{n}", "alice", 2 * 10**12 + n))
    count("alice", following=mutuals.LOOKED_AT)
    count("star", followers=10**6)
    costs = []
    for who in ("alice", "carol", "alice"):
        aws.calls.clear()
        assert call(who, f"GET {PATH}").json == {"users": [], "next_cursor": None}
        costs.append(aws.calls.total())
    assert costs == [59, 2, 2]


def test_a_kept_page_asks_the_tables_so_often(aws, call, join, count):
    """Both accounts, both follows of each, and each as the caller sees them: README.md has the same numbers."""
    join("alice", "star")
    count("alice", following=1)
    count("star", followers=10**6)
    for n in range(250):
        who = f"c{n}"
        aws.put("users", profile(who))
        aws.put("followers", follow(who, "alice", n))
        aws.put("followers", follow("star", who, n))
    costs = []
    for limit in (20, 20, 200, 200):
        aws.calls.clear()
        assert len(call("alice", f"GET {PATH}?limit={limit}").json["users"]) == limit
        costs.append(aws.calls.total())
    assert (costs[0], costs[1], costs[3]) == (6, 5, 15)


def test_a_page_that_a_kept_search_does_not_know_is_searched_for(circle, pages, call, kept):
    """A cursor from before the search that is kept now, whose row has left since: nobody is skipped or repeated."""
    first = call("alice", f"GET {PATH}?limit=4").json
    assert [row["user_id"] for row in first["users"]] == circle[:4]
    call(circle[3], "DELETE /users/star/follow")
    kept.texts.clear()
    pages("alice", PATH, 20)
    before = {**kept.texts}
    rest = call("alice", f"GET {PATH}?cursor={first['next_cursor']}")
    assert [row["user_id"] for row in rest.json["users"]] == circle[4:]
    assert "Age" not in rest.headers
    assert kept.texts == before


def test_a_kept_search_is_bounded_and_pages_go_on_below_it(aws, join, count, pages, kept):
    """Below as many as are kept the index serves, and nothing of that is kept."""
    join("alice", "star")
    count("alice", following=1)
    count("star", followers=10**6)
    people = [f"c{n:04}" for n in range(mutual_searches.MOST + 2 * LOOKED_AT)]
    for n, who in enumerate(people):
        aws.put("users", profile(who))
        aws.put("followers", follow(who, "alice", n // 3))  # three came at once, again and again
        if n % 7:
            aws.put("followers", follow("star", who, n))
    first, _ = pages("alice", PATH, 200)
    assert sorted(first) == [who for n, who in enumerate(people) if n % 7]
    again, ages = pages("alice", PATH, 150)
    assert again == first
    assert None not in ages[:6]
    assert ages[-1] is None
    assert len(kept.get(Pair("alice", "star")).found) == mutual_searches.MOST
