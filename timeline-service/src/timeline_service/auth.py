"""Who is calling: a bearer token of the configured issuer. Nobody acts as somebody else."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import jwt
from flask import g, request

HELD = 10.0  # seconds that a verified token is not verified again: a signature costs more than a page
MOST_HELD = 10_000
_ALGORITHMS = ["RS256", "ES256", "EdDSA"]


class UnauthorizedError(Exception):
    """The token is missing or wrong."""


class KeysAwayError(Exception):
    """The issuer's keys cannot be fetched; the same token may be accepted later."""


class Keys(Protocol):
    """Where public keys come from: jwt.PyJWKClient, or a fixed key in a test."""

    def get_signing_key_from_jwt(self, token: str) -> Any:
        """Return the key that the token's header names."""


def authenticate(keys: Keys, issuer: str, audience: str, is_user_id: Callable[[str], bool]) -> Callable[[], None]:
    """Return what runs before every request: it verifies the token and notes the caller, or raises."""
    held: dict[str, tuple[str, float]] = {}  # tokens that were verified: whose, and until when that is to be believed

    def before_request() -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError("send the header Authorization: Bearer TOKEN")
        now = time.time()
        sub, until = held.get(token, ("", 0.0))
        if until <= now:
            sub, expires = verified(token)
            if len(held) >= MOST_HELD:
                held.clear()
            held[token] = sub, min(expires, now + HELD)
        g.caller = sub

    def verified(token: str) -> tuple[str, float]:
        try:
            key = keys.get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                issuer=issuer,
                audience=audience,
                options={"require": ["exp", "sub"]},
            )
        except (jwt.PyJWKClientConnectionError, jwt.PyJWKSetError, ValueError) as error:
            raise KeysAwayError(f"the token issuer's keys cannot be had: {error}") from error
        except jwt.PyJWTError as error:
            raise UnauthorizedError(f"the token was not accepted: {error}") from error
        if not is_user_id(claims["sub"]):
            raise UnauthorizedError("the token's sub is not a user id")
        return str(claims["sub"]), float(claims["exp"])

    return before_request


def caller() -> str:
    """Return the user id of whoever sent this request."""
    return str(g.caller)
