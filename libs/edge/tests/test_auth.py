"""Nobody acts as somebody else."""

import math
import time

import jwt
import pytest

from murmuration_edge import auth
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

from .conftest import ISSUER, SETTINGS, bearer
from .served import create_app

STRANGER = Issuer()  # signs with a key that nobody published


class CountedKeys:
    """The issuer's keys; each token that is verified is noted."""

    def __init__(self):
        self.verified = []

    def get_signing_key_from_jwt(self, token):
        self.verified.append(token)
        return ISSUER.get_signing_key_from_jwt(token)


@pytest.fixture
def keys():
    return CountedKeys()


@pytest.fixture
def http(keys):
    return create_app(SETTINGS, keys).test_client()


def test_the_caller_is_whom_the_token_names(http):
    """Whatever the path says."""
    assert http.get("/v1/things/bob", headers=bearer("alice")).json["caller"] == "alice"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer not.a.token"},
        bearer("alice", exp=1),
        bearer("alice", exp=None),
        bearer("alice", iss="another"),
        bearer("alice", aud="another"),
        STRANGER.bearer("alice"),
        bearer("a{b"),
        bearer(None),
    ],
)
def test_a_wrong_or_missing_token_is_401(http, headers):
    """Expired, foreign, unsigned for us or nameless: nobody comes in, and is told what to send."""
    response = http.get("/v1/things/x", headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert "Send a" in response.json["detail"]


def test_a_token_that_was_verified_is_believed_until_it_expires_and_no_longer(http, keys):
    """The signature is not verified again at every request; that the token is over is noticed to the second."""
    headers = bearer("alice", exp=math.ceil(time.time()) + 1)
    assert {http.get("/v1/things/x", headers=headers).status_code for _ in range(3)} == {200}
    assert len(keys.verified) == 1
    eventually(lambda: http.get("/v1/things/x", headers=headers).status_code, 401, within=5)


def test_tokens_do_not_fill_the_memory(http, keys, monkeypatch):
    """At the limit all are forgotten, and verified again."""
    monkeypatch.setattr(auth, "MOST_BELIEVED", 2)
    for user in ("a", "b", "c", "a"):
        http.get("/v1/things/x", headers=bearer(user, exp=math.ceil(time.time()) + 100))
    assert len(keys.verified) == 4


@pytest.mark.parametrize(
    "error", [jwt.PyJWKClientConnectionError("no route"), jwt.PyJWKSetError("no route"), ValueError("no route")]
)
def test_an_issuer_that_is_away_is_503(error, caplog):
    """Nobody is told that a good token is bad because its key cannot be fetched; the log says from where, and why."""

    class Away:
        def get_signing_key_from_jwt(self, token):  # noqa: ARG002
            raise error

    response = create_app(SETTINGS, Away()).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    (line,) = [record for record in caplog.records if record.message == "request"]
    assert line.reason == "cannot fetch the signing keys from http://issuer/keys: no route"
