"""What the gateway answers by itself, and the tokens that its key set vouches for."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import jwt
import pytest

STACK = Path(__file__).parents[1] / "local/stack.py"
pytestmark = pytest.mark.stack


def refused(path: str, body: bytes | None = None, **headers: str) -> tuple[int, Message, dict[str, object]]:
    """Send a request that must fail, and give status, headers and problem."""
    request = urllib.request.Request(os.environ["GATEWAY_URL"] + path, data=body, headers=headers)  # noqa: S310
    with pytest.raises(urllib.error.HTTPError) as refusal, urllib.request.urlopen(request, timeout=5):  # noqa: S310
        pass
    with refusal.value as answer:
        return answer.code, answer.headers, json.load(answer)


@pytest.mark.parametrize(
    ("path", "body", "status", "title"),
    [("/v2/nothing", None, 404, "No route"), ("/v1/tweets", b"x" * 70_000, 413, "Body too large")],
)
def test_its_own_errors_are_problem_details(path, body, status, title):
    """A client has one kind of error to read, whoever refused it."""
    code, headers, problem = refused(path, body)
    assert code == status
    assert headers["Content-Type"] == "application/problem+json"
    assert (problem["status"], problem["title"]) == (status, title)
    assert problem["detail"]
    assert problem["request_id"] == headers["X-Request-ID"]


def test_a_sane_request_id_is_kept_and_another_replaced():
    """What goes into logs and headers is never what a stranger made up at length."""
    assert refused("/v2/nothing", **{"X-Request-ID": "abc-123"})[1]["X-Request-ID"] == "abc-123"
    for odd in ('a"b', "x" * 65, "a b"):
        assert refused("/v2/nothing", **{"X-Request-ID": odd})[1]["X-Request-ID"] != odd


def test_a_token_stands_the_test_that_every_service_makes():
    """Signature by a published key, issuer, audience, expiry, and the user as its subject."""
    command = [sys.executable, str(STACK), "token", "--name", os.environ["STACK_NAME"], "alice"]
    token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    key = jwt.PyJWKClient(os.environ["JWT_JWKS_URL"]).get_signing_key_from_jwt(token)
    claims = jwt.decode(
        token,
        key,
        algorithms=["RS256"],
        audience=os.environ["JWT_AUDIENCE"],
        issuer=os.environ["JWT_ISSUER"],
        options={"require": ["exp", "iat", "sub"]},
    )
    assert claims["sub"] == "alice"
