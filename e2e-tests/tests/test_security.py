"""Who may do what: each operation of the API, asked without a good token, and by everybody who is not the owner.

Rule: an operation that is not in the table fails. The OpenAPI document is made of the routes, so none is forgotten.
"""

import base64
import hashlib
import hmac
import json
import time

import jwt
import pytest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, send
from murmuration_testkit.tokens import Issuer, of_stack

DOCUMENT = json.loads((REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json").read_text())
OPERATIONS = [f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods]
# What a caller is answered about the things of an account that is public, private, and deleted; what callers are
# answered about the public one's when they are deleted themselves, and when they have no profile; and about those of a
# public one that blocks them, that they block, and that they mute. Whom an account
# mutes is answered as if it did not.
ANSWERS = {
    "PUT /v1/users/me": (200, 200, 200, "403 account-deleted", 201, 200, 200, 200),
    "DELETE /v1/users/me": (204, 204, 204, 204, 204, 204, 204, 204),
    "GET /v1/users/me": (200, 200, 200, "404 no-user", "404 no-user", 200, 200, 200),
    "GET /v1/users": (200, 200, 200, 200, 200, 200, 200, 200),  # whom they may not see is left out: test_screens.py
    "GET /v1/users/{user_id}": (200, 200, "404 no-user", 200, 200, "404 no-user", 200, 200),
    "POST /v1/users/{user_id}/follow": (
        204, 202, "404 no-user", "403 account-deleted", "403 no-profile",
        "404 no-user", "409 blocking", 204,
    ),
    "DELETE /v1/users/{user_id}/follow": (204, 204, 204, 204, 204, 204, 204, 204),
    "DELETE /v1/users/me/followers/{follower_id}": (204, 204, 204, 204, 204, 204, 204, 204),
    "PUT /v1/users/{user_id}/block": (204, 204, 204, "403 account-deleted", "403 no-profile", 204, 204, 204),
    "DELETE /v1/users/{user_id}/block": (204, 204, 204, 204, 204, 204, 204, 204),
    "PUT /v1/users/{user_id}/mute": (204, 204, 204, "403 account-deleted", "403 no-profile", 204, 204, 204),
    "DELETE /v1/users/{user_id}/mute": (204, 204, 204, 204, 204, 204, 204, 204),
    "GET /v1/suggestions": (200, 200, 200, 200, 200, 200, 200, 200),  # the caller's own: test_suggestions.py
    "DELETE /v1/suggestions/{user_id}": (204, 204, 204, "403 account-deleted", "403 no-profile", 204, 204, 204),
    "GET /v1/relationships": (200, 200, 200, 200, 200, 200, 200, 200),
    "GET /v1/users/{user_id}/followers": (
        200, "403 private-account", "404 no-user", 200, 200,
        "404 no-user", "403 blocking", 200,
    ),
    "GET /v1/users/{user_id}/following": (
        200, "403 private-account", "404 no-user", 200, 200,
        "404 no-user", "403 blocking", 200,
    ),
    "GET /v1/users/{user_id}/friends": (
        200, "403 private-account", "404 no-user", 200, 200,
        "404 no-user", "403 blocking", 200,
    ),
    "GET /v1/users/{user_id}/mutual-followers/{other_id}": (
        200, "403 private-account", "404 no-user", 200, 200,
        "404 no-user", "403 blocking", 200,
    ),
    "GET /v1/users/me/blocks": (200, 200, 200, 200, 200, 200, 200, 200),
    "GET /v1/users/me/mutes": (200, 200, 200, 200, 200, 200, 200, 200),
    "GET /v1/users/me/follow-requests": (200, 200, 200, 200, 200, 200, 200, 200),
    "GET /v1/users/me/follow-requests/sent": (200, 200, 200, 200, 200, 200, 200, 200),
    "POST /v1/users/me/follow-requests/{follower_id}": (
        "404 no-request", "404 no-request", "404 no-request", "403 account-deleted", "403 no-profile",
        "404 no-request", "404 no-request", "404 no-request",
    ),
    "DELETE /v1/users/me/follow-requests/{follower_id}": (204, 204, 204, 204, 204, 204, 204, 204),
    "POST /v1/tweets": (201, 201, 201, "403 account-deleted", "403 no-profile", 201, 201, 201),
    "GET /v1/tweets": (200, 200, 200, 200, 200, 200, 200, 200),  # as of users
    "GET /v1/tweets/{tweet_id}": (200, "404 no-tweet", "404 no-tweet", 200, 200, "404 no-tweet", "403 blocking", 200),
    "DELETE /v1/tweets/{tweet_id}": (
        "403 not-your-tweet", "404 no-tweet", "404 no-tweet", "403 not-your-tweet", "403 not-your-tweet",
        "404 no-tweet", "403 blocking", "403 not-your-tweet",
    ),
    "GET /v1/users/{user_id}/tweets": (
        200, "403 private-account", "404 no-user", 200, 200,
        "404 no-user", "403 blocking", 200,
    ),
    "GET /v1/timeline": (200, 200, 200, 200, 200, 200, 200, 200),
    "GET /v1/timeline/count": (200, 200, 200, 200, 200, 200, 200, 200),
}  # fmt: skip
SCENES = (
    "public", "private", "deleted", "by a deleted account", "without a profile", "blocked", "blocking", "muting",
)  # fmt: skip
COLUMNS = {scene: place for place, scene in enumerate(SCENES)} | {"muted": SCENES.index("public")}
DONE_BEFORE = {"blocking": "block", "muting": "mute"}  # by the caller
DONE_TO_THEM = {"blocked": "block", "muted": "mute"}  # by the owner
HIDING = {"private", "deleted", "blocked", "blocking"}
SECRET_TEXT = "not for everybody"  # what all of them have said
QUERIES = {
    "GET /v1/users": "?id={user_id}&expand=viewer",
    "GET /v1/relationships": "?id={user_id}",
    "GET /v1/tweets": "?id={tweet_id}&expand=author",
    "GET /v1/timeline": "?expand=author",
    "GET /v1/timeline/count": "?since={mark}",
}
BODIES = {"PUT /v1/users/me": {"display_name": "Mallory"}, "POST /v1/tweets": {"text": "Mallory was here"}}


class Owner(Person):
    """Whose things are asked for: a tweet, and somebody who follows or asks to."""

    def __init__(self, *, private=False, deleted=False):
        super().__init__("Owner")
        self.join()
        self.turn(private=private)
        self.fan = Person("Fan").join()
        self.fan.follow(self)
        self.said_first = self.tweet(SECRET_TEXT)
        self.deleted = deleted
        if deleted:
            self.leave()

    def state(self):
        """Return all that another person must not change."""
        if self.deleted:
            return None
        profile = self.ask("GET", f"/v1/users/{self.user_id}")
        return profile["display_name"], profile["is_private"], self.said(), self.requests() & {self.fan.user_id}


@pytest.fixture(scope="module")
def owners():
    public, private, deleted = Owner(), Owner(private=True), Owner(deleted=True)
    return {"public": public, "private": private, "deleted": deleted}


@pytest.fixture(scope="module")
def mark():
    """Return a mark of an empty timeline, which anybody may send."""
    return Person("Marker").join().ask("GET", "/v1/timeline")["newest"]


def asked(operation, owner, mark):
    """Return method, path and body of a request that is about this person."""
    method, path = operation.split()
    named = {"user_id": owner.user_id, "other_id": owner.fan.user_id, "follower_id": owner.fan.user_id}
    named |= {"tweet_id": owner.said_first, "mark": mark}
    body = BODIES.get(operation)
    return method, (path + QUERIES.get(operation, "")).format(**named), {"json": body} if body else {}


def caller(scene, owner):
    """Return who asks."""
    person = Person("Mallory")
    if scene != "without a profile":
        person.join()
    if scene == "by a deleted account":
        person.leave()
    if scene in DONE_TO_THEM:
        owner.ask("PUT", f"/v1/users/{person.user_id}/{DONE_TO_THEM[scene]}")
    if scene in DONE_BEFORE:
        person.ask("PUT", f"/v1/users/{owner.user_id}/{DONE_BEFORE[scene]}")
    return person


def test_every_operation_is_in_the_table():
    """A new route needs its line here: who may use it on whose things."""
    assert sorted(ANSWERS) == sorted(OPERATIONS)


@pytest.mark.parametrize("scene", COLUMNS)
@pytest.mark.parametrize("operation", ANSWERS)
def test_everybody_is_answered_by_the_table(operation, scene, owners, mark):
    """And what is the owner's stays as it was."""
    owner = owners.get(scene, owners["public"])
    before = owner.state()
    method, path, body = asked(operation, owner, mark)
    response = send(method, path, headers=caller(scene, owner).headers, **body)
    code = f" {json.loads(response.data)['code']}" if response.status >= 400 else ""
    assert f"{response.status}{code}" == str(ANSWERS[operation][COLUMNS[scene]])
    assert scene not in HIDING or SECRET_TEXT.encode() not in response.data
    assert owner.state() == before


def bad_tokens(user_id):
    """Return the headers of everybody who would like to be this user."""
    issuer = of_stack()
    good = issuer.token(user_id)
    head = jwt.get_unverified_header(good)
    claims = good.split(".")[1]
    stranger = Issuer(issuer.name, issuer.audience, headers={"kid": head["kid"]})

    def encoded(data):
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    def forged(algorithm, sign):
        signed = f"{encoded(json.dumps({**head, 'alg': algorithm}).encode())}.{claims}"
        return f"{signed}.{encoded(sign(signed.encode()))}"

    hs256 = forged("HS256", lambda text: hmac.digest(issuer.public_pem().encode(), text, hashlib.sha256))
    bearers = {
        "expired": issuer.token(user_id, exp=time.time() - 120),
        "not valid yet": issuer.token(user_id, nbf=time.time() + 120),
        "without an end": issuer.token(user_id, exp=None),
        "for another audience": issuer.token(user_id, aud="another"),
        "of another issuer": issuer.token(user_id, iss="another"),
        "signed by another": stranger.token(user_id),
        "signed with the public key": hs256,
        "signed by nobody": forged("none", lambda _: b""),
        "with another's claims": ".".join([good.split(".")[0], issuer.token("x").split(".")[1], good.split(".")[2]]),
        "without a user": issuer.token(None),
        "of no possible user": issuer.token("a b"),
        "no token": "x.y.z",
        "nothing": "",
    }
    return {
        "none": {},
        "another scheme": {"Authorization": f"Basic {good}"},
        **{name: {"Authorization": f"Bearer {token}"} for name, token in bearers.items()},
    }


@pytest.mark.parametrize("operation", ANSWERS)
def test_nobody_comes_in_without_a_good_token(operation, owners, mark):
    """401 whatever is wrong with it, also in the owner's own name; and nothing is done."""
    owner = owners["public"]
    before = owner.state()
    method, path, body = asked(operation, owner, mark)
    tokens = bad_tokens(owner.user_id)
    answers = {}
    for name, headers in tokens.items():
        response = send(method, path, headers=headers, **body)
        challenge = response.headers.get("WWW-Authenticate", "").split(" ")[0]
        answers[name] = response.status, json.loads(response.data)["code"], challenge
    assert answers == dict.fromkeys(tokens, (401, "unauthorized", "Bearer"))
    assert owner.state() == before


def test_a_token_is_taken_from_its_header_only():
    """Not from the path's query, where it would stand in logs."""
    person = Person("Alice").join()
    token = person.headers["Authorization"].split()[1]
    for query in (f"access_token={token}", f"token={token}"):
        assert send("GET", f"/v1/timeline?{query}").status == 401
