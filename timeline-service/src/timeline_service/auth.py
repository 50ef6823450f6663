"""Who is calling: a bearer token of the configured issuer. Nobody acts as somebody else."""

from collections.abc import Callable
from typing import Any, Protocol

import jwt
from flask import g, request

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

    def before_request() -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError("send the header Authorization: Bearer TOKEN")
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
        g.caller = claims["sub"]

    return before_request


def caller() -> str:
    """Return the user id of whoever sent this request."""
    return str(g.caller)
