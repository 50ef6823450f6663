"""Nobody acts as somebody else."""

import base64
import hashlib
import hmac
import json
import math
import time

import jwt
import pytest
from pydantic import ValidationError

from murmuration_edge import auth
from murmuration_edge.auth import KeysAwayError, UnknownKeyError
from murmuration_edge.settings import EdgeSettings
from murmuration_testkit.tokens import Issuer
from murmuration_testkit.waiting import eventually

from .conftest import ISSUER, SETTINGS, bearer
from .served import create_app

STRANGER = Issuer()  # signs with a key that nobody published


class CountedKeys:
    """The issuer's keys; each key that is looked up by a token's verification is noted, and can be withdrawn."""

    def __init__(self):
        self.verified = 0
        self.withdrawn = False
        self.away = False

    def key(self, kid):
        if self.away:
            raise KeysAwayError("the issuer's signing keys are not known: no route")
        if self.withdrawn:
            raise UnknownKeyError("the issuer has no key of its kid")
        return ISSUER.key(kid)


@pytest.fixture
def keys(monkeypatch):
    counted, decode = CountedKeys(), jwt.decode

    def counting(*given, **more):
        counted.verified += 1
        return decode(*given, **more)

    monkeypatch.setattr(jwt, "decode", counting)
    return counted


@pytest.fixture
def http(keys):
    return create_app(SETTINGS, keys).test_client()


def test_the_caller_is_whom_the_token_names(http):
    """Whatever the path says."""
    assert http.get("/v1/things/bob", headers=bearer("alice")).json["caller"] == "alice"


def part(told):
    return base64.urlsafe_b64encode(told if isinstance(told, bytes) else json.dumps(told).encode()).decode().rstrip("=")


def signed_with_the_public_key(alg):
    """Make the classic forgery: the public key, which everybody has, as the secret of an HMAC."""
    claims = {"sub": "alice", "iss": "issuer", "aud": "audience", "exp": time.time() + 60}
    text = f"{part({'alg': alg, 'typ': 'JWT'})}.{part(claims)}"
    signature = hmac.digest(ISSUER.public_pem().encode(), text.encode(), hashlib.sha256) if alg != "none" else b""
    return {"Authorization": f"Bearer {text}.{part(signature)}"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer not.a.token"},
        {"Authorization": "Bearer a b"},
        {"Authorization": "Bearer " + part(b"[" * 5_000) + ".e30.x"},
        {"Authorization": "Bearer " + part({"alg": "RS256", "kid": 5}) + ".e30.x"},
        {"Authorization": "Bearer " + part({"alg": ["RS256"]}) + ".e30.x"},
        {"Authorization": "Bearer " + part({}) + ".e30.x"},
        bearer("alice", exp=1),
        bearer("alice", exp=None),
        bearer("alice", nbf=time.time() + 3600),
        bearer("alice", iss="another"),
        bearer("alice", iss=None),
        bearer("alice", aud="another"),
        bearer("alice", aud=""),
        bearer("alice", aud=[]),
        bearer("alice", aud=None),
        STRANGER.bearer("alice"),
        bearer("a{b"),
        bearer(""),
        bearer(None),
        signed_with_the_public_key("HS256"),
        signed_with_the_public_key("none"),
        signed_with_the_public_key("None"),
        signed_with_the_public_key("ES256"),
    ],
)
def test_a_wrong_token_is_401_and_called_invalid(http, headers):
    """Expired, foreign, unsigned for us, forged or nameless: nobody comes in, and is told to send another."""
    response = http.get("/v1/things/x", headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert "Send another" in response.json["detail"]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer "}])
def test_no_token_is_401_without_an_error(http, headers):
    """RFC 6750, section 3.1: who sends no token is told which is wanted, and not that one was wrong."""
    response = http.get("/v1/things/x", headers=headers)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert "Send a token" in response.json["detail"]


def test_clocks_may_differ_by_the_leeway(keys):
    """Thirty seconds, unless it is set otherwise; and no more."""
    expired, young = bearer("alice", exp=time.time() - 10), bearer("alice", nbf=time.time() + 10)
    for leeway, status in ((30, 200), (5, 401)):
        http = create_app(SETTINGS.model_copy(update={"jwt_leeway_seconds": leeway}), keys).test_client()
        assert {http.get("/v1/things/x", headers=headers).status_code for headers in (expired, young)} == {status}
    assert SETTINGS.jwt_leeway_seconds == 30


@pytest.mark.parametrize(
    ("typ", "status"), [("at+jwt", 200), ("application/AT+JWT", 200), ("JWT", 401), (None, 401), (["at+jwt"], 401)]
)
def test_only_access_tokens_are_taken_if_a_setting_says_so(keys, typ, status):
    """An ID token of the same issuer for the same audience is no leave to act (RFC 9068)."""
    strict = create_app(SETTINGS.model_copy(update={"jwt_typ": "at+jwt"}), keys).test_client()
    issuer = ISSUER.saying(typ=typ)
    assert strict.get("/v1/things/x", headers=issuer.bearer("alice")).status_code == status
    assert create_app(SETTINGS, keys).test_client().get("/v1/things/x", headers=bearer("alice")).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"), [("jwt_audience", ""), ("jwt_audience", " "), ("jwt_issuer", ""), ("jwt_typ", "JWT")]
)
def test_settings_that_would_take_anybodys_token_stop_the_start(name, value):
    """An audience that is empty is none."""
    with pytest.raises(ValidationError, match=name):
        EdgeSettings(**ISSUER.edge_settings | {name: value})


def test_keys_are_somewhere():
    """At a URL, or where the issuer says: then its name is a URL."""
    with pytest.raises(ValidationError, match="JWT_JWKS_URL is not set"):
        EdgeSettings(**ISSUER.edge_settings | {"jwt_jwks_url": None})
    EdgeSettings(**ISSUER.edge_settings | {"jwt_jwks_url": None, "jwt_issuer": "https://login.example"})


def test_a_token_that_was_verified_is_believed_until_it_expires_and_no_longer(keys):
    """The signature is not verified again at every request; that the token is over is noticed to the second."""
    http = create_app(SETTINGS.model_copy(update={"jwt_leeway_seconds": 0}), keys).test_client()
    headers = bearer("alice", exp=math.ceil(time.time()) + 1)
    assert {http.get("/v1/things/x", headers=headers).status_code for _ in range(3)} == {200}
    assert keys.verified == 1
    eventually(lambda: http.get("/v1/things/x", headers=headers).status_code, 401, within=5)


def test_a_token_is_believed_no_longer_than_its_key(http, keys):
    """An issuer that withdraws a key withdraws what it signed; nobody waits for the tokens to expire."""
    headers = bearer("alice")
    assert http.get("/v1/things/x", headers=headers).status_code == 200
    keys.withdrawn = True
    assert http.get("/v1/things/x", headers=headers).status_code == 401
    keys.withdrawn = False
    assert http.get("/v1/things/x", headers=headers).status_code == 200
    assert keys.verified == 1


def test_tokens_do_not_fill_the_memory(http, keys, monkeypatch):
    """At the limit the oldest is forgotten, and verified again; the others are still remembered."""
    monkeypatch.setattr(auth, "MOST_REMEMBERED", 2)
    tokens = {user: bearer(user) for user in "abc"}
    for user in "abcbc":
        http.get("/v1/things/x", headers=tokens[user])
    assert keys.verified == 3
    http.get("/v1/things/x", headers=tokens["a"])
    assert keys.verified == 4


def test_while_the_keys_are_not_known_it_is_503(keys, caplog):
    """Nobody is told that a good token is bad because its key cannot be fetched; the log says why."""
    keys.away = True
    response = create_app(SETTINGS, keys).test_client().get("/v1/things/x", headers=bearer("alice"))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    (line,) = [record for record in caplog.records if record.message == "request"]
    assert line.reason == "the issuer's signing keys are not known: no route"
