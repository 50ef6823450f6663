"""A route takes, answers and refuses what it declares."""

import pytest

from .conftest import bearer


@pytest.mark.parametrize("method", ["TRACE", "POST", "BREW"])
def test_another_method_is_told_which_there_are(http, method):
    """405 with Allow, with a token and without."""
    for headers in ({}, bearer("alice")):
        response = http.open("/v1/things", method=method, headers=headers)
        assert (response.status_code, response.json["code"]) == (405, "method-not-allowed")
        assert "PUT" in response.headers["Allow"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
def test_no_handler_runs_before_the_guards(http, method):
    """Who is refused is told nothing about the request, not even that it is wrong."""
    response = http.open("/v1/things?limit=x", method=method, data=b"{")
    assert response.status_code == 401
