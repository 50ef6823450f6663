"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

import pytest

from murmuration_testkit.promises import StillBrokenError, promised

from .conftest import bearer


def say(http, **headers):
    return http.post("/v1/tweets", json={"text": "hello"}, headers=bearer("ann") | headers)


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 14: request arguments become url_for's")
@pytest.mark.parametrize(
    "argument", ["user_id=bob", "endpoint=x", "_method=DELETE", "_scheme=https", "_external=1", "_anchor=x"]
)
def test_e18_no_argument_of_a_request_changes_where_the_next_page_is(http, argument):
    """What the service does not know is no instruction for it, and no mistake of its own either."""
    for _ in range(2):
        assert say(http).status_code == 201
    page = http.get(f"/v1/users/ann/tweets?limit=1&{argument}", headers=bearer("ann"))
    with promised():
        assert page.status_code == 200
        assert page.headers["Link"].startswith("</v1/users/ann/tweets?limit=1")
        assert page.headers["Link"].endswith(f'cursor={page.json["next_cursor"]}>; rel="next"')


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: an Idempotency-Key whose tweet was deleted")
def test_e18_a_repeated_request_whose_tweet_was_deleted_does_not_say_that_it_is_there(http):
    """201 would name a tweet that nobody can read."""
    key = {"Idempotency-Key": "once"}
    there = say(http, **key).headers["Location"]
    assert http.delete(there, headers=bearer("ann")).status_code == 204
    again = say(http, **key)
    with promised():
        assert again.status_code != 201 or http.get(again.headers["Location"], headers=bearer("ann")).status_code == 200
