"""Bearer tokens: of an issuer that a test makes, and of the stack's own."""

import json
import os
import time
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from jwt.algorithms import RSAAlgorithm

from murmuration_testkit import wide_limits

MINUTE_S = 60
DAY_S = 86_400


class Issuer:
    """Signs tokens with a key of its own, and hands out the public half."""

    def __init__(
        self, name: str = "issuer", audience: str = "audience", key: Any = None, headers: dict[str, Any] | None = None
    ) -> None:
        self.name = name
        self.audience = audience
        self._given = key
        self._headers = headers

    def token(self, user_id: str | None, lifetime_s: float = MINUTE_S, **claims: Any) -> str:
        """Sign a token for somebody; a claim that is None is left out."""
        usual = {"sub": user_id, "iss": self.name, "aud": self.audience, "exp": time.time() + lifetime_s}
        stated = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(stated, self._key, "RS256", headers=self._headers)

    def bearer(self, user_id: str | None, **claims: Any) -> dict[str, str]:
        """Return the header of a request in somebody's name."""
        return {"Authorization": f"Bearer {self.token(user_id, **claims)}"}

    @property
    def edge_settings(self) -> dict[str, Any]:
        """What the settings of an edge need that nobody serves: it takes this issuer's tokens, and counts alone."""
        jwt_settings = {"jwt_jwks_url": "http://issuer/keys", "jwt_issuer": self.name, "jwt_audience": self.audience}
        return {"port": 0, "admin_port": 0, "limits_redis_url": None, **jwt_settings, **wide_limits.SETTINGS}

    def saying(self, **headers: Any) -> "Issuer":
        """Return an issuer with the same key, whose tokens say this in their headers."""
        return Issuer(self.name, self.audience, self._key, headers)

    def key(self, kid: str | None) -> Any:  # noqa: ARG002 - it has one key, whatever it is called
        """Return the public key, as an edge asks for it."""
        return self._public

    def published(self) -> dict[str, Any]:
        """Return the public key as a JWKS has it, under the id that its tokens name."""
        jwk: dict[str, Any] = RSAAlgorithm.to_jwk(self._public, as_dict=True)
        return {**jwk, **(self._headers or {}), "use": "sig", "alg": "RS256"}

    def public_pem(self) -> str:
        """Return the public key as a text."""
        public: bytes = self._public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return public.decode()

    @cached_property
    def _public(self) -> Any:
        return self._key.public_key()

    @cached_property
    def _key(self) -> Any:
        return self._given or rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def of_stack() -> Issuer:
    """Return the issuer of the stack that this process's environment names; its services accept the tokens."""
    directory = Path(os.environ["STACK_DIR"]) / "issuer"
    key = load_pem_private_key((directory / "key.pem").read_bytes(), password=None)
    kid = json.loads((directory / "jwks.json").read_text())["keys"][0]["kid"]
    return Issuer(os.environ["JWT_ISSUER"], os.environ["JWT_AUDIENCE"], key, {"kid": kid})
