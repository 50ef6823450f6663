"""What a caller is told of their budgets, and that nobody is counted who is not known."""

import pytest
from flask import Blueprint, Flask

from murmuration_edge import limits
from murmuration_edge.leases import Leases
from murmuration_edge.operations import Operations
from murmuration_edge.token_buckets import Budget
from murmuration_testkit.tokens import DAY_S

from .conftest import ISSUER, SETTINGS, bearer
from .served import create_app

TIGHT = SETTINGS.model_copy(update={"limit_calls_a_minute": 60, "limit_calls_burst": 10})
ALICE, BOB = (bearer(each, lifetime_s=DAY_S) for each in ("alice", "bob"))  # a whole run may pass before their tests


@pytest.fixture
def http():
    return create_app(TIGHT, ISSUER).test_client()


def test_each_answer_says_what_is_left(http):
    """As draft-ietf-httpapi-ratelimit-headers-10 has it: of q there are r left, and in t seconds all of them."""
    answers = [http.get("/v1/things/x", headers=ALICE).headers for _ in range(2)]
    assert [each["RateLimit-Policy"] for each in answers] == ['"calls";q=10;w=10'] * 2
    assert [each["RateLimit"] for each in answers] == ['"calls";r=9;t=1', '"calls";r=8;t=2']


def test_who_has_spent_everything_is_refused_with_a_problem_and_the_time_to_wait(http):
    """The others are not."""
    statuses = [http.get("/v1/things/x", headers=ALICE).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [429]
    refused = http.get("/v1/things/x", headers=ALICE)
    assert refused.json["code"] == "too-many-requests"
    assert refused.json["type"] == "/problems/too-many-requests"
    assert "Try again in 1 s" in refused.json["detail"]
    assert refused.headers["Retry-After"] == "1"
    assert refused.headers["RateLimit"] == '"calls";r=0;t=10'
    assert http.get("/v1/things/x", headers=BOB).status_code == 200


def test_a_page_that_is_reached_by_a_cursor_or_expanded_costs_three_times_as_much(http):
    """It is read from further down, as one that is expanded is read beside; the first page costs what is declared."""
    for query, left in (("", 9), ("?cursor=2", 6), ("?expand=x", 3)):
        told = http.get(f"/v1/things{query}", headers=ALICE).headers["RateLimit"]
        assert told.startswith(f'"calls";r={left};')
    told = http.get("/v1/things/x?cursor=2&expand=x", headers=ALICE).headers["RateLimit"]
    assert told.startswith('"calls";r=2;')


def test_nobody_is_counted_before_their_token_is_verified(http):
    """Whoever sends wrong tokens in somebody's name takes nothing from them."""
    forged = {"Authorization": ALICE["Authorization"][:-4] + "AAAA"}
    for headers in (forged, {}):
        for _ in range(20):
            answer = http.get("/v1/things/x", headers=headers)
            assert answer.status_code == 401
            assert "RateLimit" not in answer.headers
    assert http.get("/v1/things/x", headers=ALICE).headers["RateLimit"].startswith('"calls";r=9;')


def test_what_no_caller_asks_for_costs_nothing(http):
    """The document, methods that there are not, and preflights."""
    for _ in range(20):
        assert http.get("/openapi.json").status_code == 200
        assert http.options("/v1/things").status_code == 200
        assert http.post("/v1/things").status_code == 405
    assert http.get("/v1/things/x", headers=ALICE).status_code == 200


def test_a_refused_call_has_done_nothing(http):
    """It is refused before its body is read."""
    for _ in range(10):
        http.get("/v1/things/x", headers=ALICE)
    assert http.put("/v1/things", data=b"{", content_type="application/json", headers=ALICE).status_code == 429


def test_a_budget_that_no_setting_has_stops_the_start():
    """And is named."""
    api = Operations(Blueprint("x", __name__, url_prefix="/v1"))

    @api.add("GET", "/x", {}, budget="others")
    def x():
        """Do it."""

    budgets = [Budget("calls", 1, 1, 1)]
    with pytest.raises(ValueError, match="others"):
        limits.install(Flask("x"), api, budgets, Leases(budgets, None))
