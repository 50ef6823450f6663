"""Tokens as PyJWT reads them, since that is what the services verify them with."""

import jwt
import pytest

from murmuration_testkit.tokens import Issuer

ISSUER = Issuer("us", "them")


def claims(token):
    return jwt.decode(token, ISSUER.key(None), algorithms=["RS256"], issuer="us", audience="them")


def test_a_token_is_of_its_issuer_for_its_user():
    """A service that trusts this issuer takes it."""
    assert claims(ISSUER.token("alice"))["sub"] == "alice"
    assert ISSUER.bearer("alice")["Authorization"].startswith("Bearer ")
    assert ISSUER.public_pem().startswith("-----BEGIN PUBLIC KEY-----")


def test_a_claim_can_be_another_or_missing():
    """So that a test can show what a service refuses."""
    with pytest.raises(jwt.ExpiredSignatureError):
        claims(ISSUER.token("alice", exp=1))
    assert "exp" not in claims(ISSUER.token("alice", exp=None))
    assert "sub" not in claims(ISSUER.token(None))


def test_another_issuer_has_another_key():
    """Even under the same name."""
    with pytest.raises(jwt.InvalidSignatureError):
        claims(Issuer("us", "them").token("alice"))
    with pytest.raises(jwt.DecodeError):
        claims("no token")
