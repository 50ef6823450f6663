"""Who is calling: a bearer token of the configured issuer. Nobody acts as somebody else."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import jwt
from flask import g, request

from murmuration_edge.settings import EdgeSettings

BELIEVED_SECONDS = 10.0  # a verified token is not verified again for so long: a signature costs more than a page
MOST_BELIEVED = 10_000
FETCH_SECONDS = 3
_ALGORITHMS = ["RS256", "ES256", "EdDSA"]


class UnauthorizedError(Exception):
    """The token is missing or wrong."""


class KeysAwayError(Exception):
    """The issuer's keys cannot be fetched; the same token may be accepted later."""


class Keys(Protocol):
    """Where public keys come from: jwt.PyJWKClient, or an issuer that a test made."""

    def get_signing_key_from_jwt(self, token: str) -> Any:
        """Return the key that the token's header names."""


def authenticate(
    settings: EdgeSettings, is_user_id: Callable[[str], bool], keys: Keys | None = None
) -> Callable[[], None]:
    """Return what runs before every request: it verifies the token and notes the caller, or raises."""
    issuers_keys = keys or jwt.PyJWKClient(settings.jwt_jwks_url, timeout=FETCH_SECONDS)
    believed: dict[str, tuple[str, float]] = {}  # by token: the caller, and until when that is believed

    def before_request() -> None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError("Send a token, in the header Authorization: Bearer TOKEN.")
        now = time.time()
        caller_id, until = believed.get(token, ("", 0.0))
        if until <= now:
            caller_id, expires = verified(token)
            if len(believed) >= MOST_BELIEVED:
                believed.clear()
            believed[token] = caller_id, min(expires, now + BELIEVED_SECONDS)
        g.caller = caller_id

    def verified(token: str) -> tuple[str, float]:
        try:
            key = issuers_keys.get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                options={"require": ["exp", "sub"]},
            )
        except (jwt.PyJWKClientConnectionError, jwt.PyJWKSetError, ValueError) as error:
            raise KeysAwayError(f"cannot fetch the signing keys from {settings.jwt_jwks_url}: {error}") from error
        except jwt.PyJWTError as error:
            raise UnauthorizedError(f"The token was refused: {error}. Send another.") from error
        if not is_user_id(claims["sub"]):
            raise UnauthorizedError("The token was refused: its claim sub is not a user id. Send another.")
        return str(claims["sub"]), float(claims["exp"])

    return before_request


def caller() -> str:
    """Return the user id of whoever sent this request."""
    return str(g.caller)
