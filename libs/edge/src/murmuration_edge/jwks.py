"""The pages on which an issuer publishes its keys, read with suspicion.

Rule: a key of a kind that is not known is left out, with a line in the log; a page without any usable key is no answer.
"""

import json
import logging
from collections.abc import Callable
from typing import Any

import jwt

from murmuration_edge.auth import ALGORITHMS
from murmuration_edge.bounded_pages import BadPageError, page

DISCOVERY = "/.well-known/openid-configuration"
_WEB = ("http://", "https://")
_log = logging.getLogger(__name__)
PublicKeys = dict[str, jwt.PyJWK]


def fetch_keys(jwks_url: str | None, issuer: str, read: Callable[[str], bytes] = page) -> PublicKeys:
    """Return the issuer's keys by their ids, from this URL or from the one that its discovery document names."""
    return read_keys(read(jwks_url or read_discovery(read(issuer.rstrip("/") + DISCOVERY), issuer)))


def read_discovery(text: bytes, issuer: str) -> str:
    """Return where an issuer's keys are, from its discovery document (OpenID Connect Discovery 1.0)."""
    told = _object(text)
    if told.get("issuer") != issuer:
        raise BadPageError(f"the discovery document is of the issuer {told.get('issuer')!r}, and not of {issuer!r}")
    url = told.get("jwks_uri")
    if not isinstance(url, str) or not url.startswith(_WEB):
        raise BadPageError(f"the discovery document of {issuer} names no jwks_uri")
    return url


def read_keys(text: bytes) -> PublicKeys:
    """Return the keys of a JWKS that can verify signatures, by their ids."""
    listed = _object(text).get("keys")
    found: PublicKeys = {}
    for each in listed if isinstance(listed, list) else ():
        try:
            if not isinstance(each, dict) or not isinstance(each.get("kid"), str):
                raise TypeError("it is no object with a kid")  # noqa: TRY301 - one place says what is left out
            if each.get("use", "sig") != "sig":
                continue
            key = jwt.PyJWK(each)
        except (jwt.PyJWTError, TypeError, ValueError, AttributeError) as error:
            _log.warning("a signing key is left out", extra={"reason": f"{type(error).__name__}: {error}"[:300]})
            continue
        if key.algorithm_name in ALGORITHMS:
            found[each["kid"]] = key
        else:
            _log.warning("a signing key is left out", extra={"reason": f"its algorithm is {key.algorithm_name}"})
    if not found:
        raise BadPageError("the JWKS has no key that could verify a token")
    return found


def _object(text: bytes) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadPageError(f"the issuer sent what is no JSON: {error}") from error
    if not isinstance(told, dict):
        raise BadPageError("the issuer sent JSON that is no object")
    return told
