"""What an issuer publishes is read with suspicion."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

from murmuration_edge.bounded_pages import BadPageError
from murmuration_edge.jwks import fetch_keys, read_discovery, read_keys
from murmuration_testkit.issuer_door import DISCOVERY
from murmuration_testkit.tokens import Issuer

GOOD = Issuer(headers={"kid": "good"}).published()


def jwks(*keys):
    return json.dumps({"keys": keys}).encode()


def test_keys_of_the_three_algorithms_are_found_by_their_ids():
    """RSA, elliptic curves and Edwards curves."""
    curve = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
    edwards = OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate().public_key(), as_dict=True)
    found = read_keys(jwks(GOOD, curve | {"kid": "c"}, edwards | {"kid": "e"}))
    assert {kid: key.algorithm_name for kid, key in found.items()} == {"good": "RS256", "c": "ES256", "e": "EdDSA"}


SECRET = base64.urlsafe_b64encode(b"s" * 32).decode()


@pytest.mark.parametrize(
    "odd",
    [
        {"kty": "oct", "kid": "odd", "k": SECRET},
        {"kty": "new", "kid": "odd"},
        {"kty": "RSA", "kid": "odd", "n": "?", "e": "AQAB"},
        {"kty": "EC", "kid": "odd", "crv": "P-256", "x": 5, "y": None},
        GOOD | {"kid": 5},
        {name: told for name, told in GOOD.items() if name != "kid"},
        GOOD | {"kid": "odd", "alg": "HS256"},
        GOOD | {"kid": "odd", "alg": ["RS256"]},
        "key",
        None,
    ],
)
def test_a_key_of_an_unknown_kind_is_left_out_and_logged(odd, caplog):
    """Above all a secret: nobody who knows a public key may sign."""
    assert [*read_keys(jwks(odd, GOOD))] == ["good"]
    assert caplog.messages == ["a signing key is left out"]


def test_a_key_for_encryption_verifies_nothing():
    """Issuers publish those beside the others."""
    assert [*read_keys(jwks(GOOD | {"kid": "odd", "use": "enc"}, GOOD))] == ["good"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[]",
        b"5",
        b"{}",
        b'{"keys": {}}',
        b'{"keys": []}',
        jwks({"kty": "new"}),
        b"[" * 99_999,
    ],
)
def test_a_page_without_keys_is_no_answer(text):
    """The old keys serve on; nothing is emptied by mistake."""
    with pytest.raises(BadPageError):
        read_keys(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
odd_keys = st.dictionaries(st.sampled_from(["kty", "kid", "alg", "use", "crv", "n", "e", "x", "y", "k"]), json_values)


@given(st.lists(odd_keys | json_values, max_size=3))
def test_no_garbage_hides_a_good_key(garbage):
    """Whatever stands beside it."""
    assert "good" in read_keys(jwks(*garbage, GOOD))


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": "http://other", "jwks_uri": "http://issuer/keys"},
        {"issuer": "http://issuer/", "jwks_uri": "http://issuer/keys"},
        {"jwks_uri": "http://issuer/keys"},
        {"issuer": "http://issuer"},
        {"issuer": "http://issuer", "jwks_uri": "file:///etc/passwd"},
        {"issuer": "http://issuer", "jwks_uri": 5},
    ],
)
def test_a_discovery_document_that_is_not_the_issuers_is_refused(told):
    """Its issuer is the same text (OpenID Connect Discovery, 4.3), and its keys are on the web."""
    with pytest.raises(BadPageError):
        read_discovery(json.dumps(told).encode(), "http://issuer")


def test_keys_are_found_by_the_discovery_document():
    """Unless a URL is set."""
    told = {
        f"http://issuer{DISCOVERY}": json.dumps({"issuer": "http://issuer", "jwks_uri": "http://keys/1"}).encode(),
        "http://keys/1": jwks(GOOD),
        "http://keys/2": jwks(GOOD | {"kid": "other"}),
    }
    assert [*fetch_keys(None, "http://issuer", told.__getitem__)] == ["good"]
    assert [*fetch_keys("http://keys/2", "http://issuer", told.__getitem__)] == ["other"]
