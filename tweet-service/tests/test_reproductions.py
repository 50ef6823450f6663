"""Faults that are known: each test is a promise that does not hold yet, and leaves this list when it does."""

import pytest

from murmuration_testkit.promises import StillBrokenError, promised

from .conftest import bearer


def say(http, **headers):
    return http.post("/v1/tweets", json={"text": "hello"}, headers=bearer("ann") | headers)


@pytest.mark.xfail(strict=True, raises=StillBrokenError, reason="issue 16: an Idempotency-Key whose tweet was deleted")
def test_e18_a_repeated_request_whose_tweet_was_deleted_does_not_say_that_it_is_there(http):
    """201 would name a tweet that nobody can read."""
    key = {"Idempotency-Key": "once"}
    there = say(http, **key).headers["Location"]
    assert http.delete(there, headers=bearer("ann")).status_code == 204
    again = say(http, **key)
    with promised():
        assert again.status_code != 201 or http.get(again.headers["Location"], headers=bearer("ann")).status_code == 200
