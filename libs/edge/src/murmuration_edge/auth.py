"""Who is calling: a bearer token of the configured issuer. Nobody acts as somebody else.

Rule: a token that was verified is remembered until it expires or its key is withdrawn; nothing here waits
for the issuer.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import jwt
from flask import g, request

from murmuration_edge.settings import EdgeSettings

MOST_REMEMBERED = 50_000  # of about 400 bytes each
ALGORITHMS = ("RS256", "ES256", "EdDSA")
_REFUSED = "The token was refused: {reason}. Send another."


class UnauthorizedError(Exception):
    """The token is wrong."""

    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class NoTokenError(UnauthorizedError):
    """There is no token: RFC 6750 has no error named then."""

    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": "Bearer"}


class UnknownKeyError(Exception):
    """The issuer publishes no key of this id."""


class KeysAwayError(Exception):
    """The issuer's keys are not known; the same token may be accepted later."""


class Keys(Protocol):
    """Where public keys come from: signing_keys.SigningKeys, or an issuer that a test made."""

    def key(self, kid: str | None) -> Any:
        """Return the key of this id, without waiting; the same object as long as it is the same key."""


class _Remembered(NamedTuple):
    caller_id: str
    until: float
    kid: str | None
    key: Any


class Tokens:
    """The tokens of one issuer: verified once, and then remembered by their hashes. Safe among threads."""

    def __init__(self, settings: EdgeSettings, is_user_id: Callable[[str], bool], keys: Keys) -> None:
        self._settings = settings
        self._is_user_id = is_user_id
        self._keys = keys
        self._remembered: dict[bytes, _Remembered] = {}
        self._changing = threading.Lock()

    def caller_of(self, token: str, now: float) -> str:
        """Return the user whom a token names, or raise why it is not accepted."""
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        known = self._remembered.get(digest)
        if known and now < known.until:
            try:
                if self._keys.key(known.kid) is known.key:
                    return known.caller_id
            except UnknownKeyError:  # it was withdrawn
                known = None
        remembered = self._verified(token)
        with self._changing:
            if digest not in self._remembered and len(self._remembered) >= MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]  # the oldest
            self._remembered[digest] = remembered
        return remembered.caller_id

    def _verified(self, token: str) -> _Remembered:
        leeway = self._settings.jwt_leeway_seconds
        try:
            header = jwt.get_unverified_header(token)
            kid = header.get("kid")
            key = self._keys.key(kid)
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._settings.jwt_issuer,
                audience=self._settings.jwt_audience,
                leeway=leeway,
                options={"require": ["exp", "sub", "iss", "aud"]},
            )
            expires = float(claims["exp"])
        except UnknownKeyError as error:
            raise UnauthorizedError(_REFUSED.format(reason=error)) from error
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            raise UnauthorizedError(_REFUSED.format(reason=str(error) or "it cannot be read")) from error
        wanted = self._settings.jwt_typ
        if wanted and str(header.get("typ")).lower().removeprefix("application/") != wanted:
            raise UnauthorizedError(_REFUSED.format(reason=f"its header typ is not {wanted}"))
        if not self._is_user_id(claims["sub"]):
            raise UnauthorizedError(_REFUSED.format(reason="its claim sub is not a user id"))
        return _Remembered(str(claims["sub"]), expires + leeway, kid, key)


def bearer(authorization: str) -> str:
    """Return the token in a header Authorization; raise NoTokenError if there is none."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NoTokenError("Send a token, in the header Authorization: Bearer TOKEN.")
    return token


def authenticate(settings: EdgeSettings, is_user_id: Callable[[str], bool], keys: Keys) -> Callable[[], None]:
    """Return what runs before every request: it verifies the token and notes the caller, or raises."""
    tokens = Tokens(settings, is_user_id, keys)

    def before_request() -> None:
        g.caller = tokens.caller_of(bearer(request.headers.get("Authorization", "")), time.time())

    return before_request


def caller() -> str:
    """Return the user id of whoever sent this request."""
    return str(g.caller)
