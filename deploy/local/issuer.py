"""The stack's own token issuer: one RSA key for each stack, its public half published as a JWKS."""

import hashlib
import json
import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from environment import AUDIENCE, ISSUER
from jwt.algorithms import RSAAlgorithm

LIFETIME = timedelta(days=30)


def publish_keys(directory: Path) -> None:
    """Make the key on the first call, and write the public half to jwks.json."""
    directory.mkdir(parents=True, exist_ok=True)
    private = directory / "key.pem"
    if not private.exists():
        pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        private.touch(mode=0o600)
        private.write_bytes(pem)
    public = _key(directory).public_key()
    jwk: dict[str, Any] = RSAAlgorithm.to_jwk(public, as_dict=True)
    keys = [{**jwk, "kid": _key_id(public), "use": "sig", "alg": "RS256"}]
    fresh = directory / f"jwks.{os.getpid()}"  # a reader sees the old file or the new one, never half of it
    fresh.write_text(json.dumps({"keys": keys}))
    fresh.replace(directory / "jwks.json")


def token(directory: Path, user: str) -> str:
    """Give a bearer token that says its holder is this user, for thirty days."""
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + int(LIFETIME.total_seconds())}
    key = _key(directory)
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _key_id(key.public_key())})


def service_token(directory: Path, service: str) -> str:
    """Give a token that lets a service log in to Kafka as itself, for thirty days."""
    now = int(time.time())
    lifetime = int(LIFETIME.total_seconds())
    claims = {"iss": ISSUER, "aud": "kafka", "sub": service, "iat": now, "exp": now + lifetime}
    key = _key(directory)
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": _key_id(key.public_key())})


def _key(directory: Path) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key((directory / "key.pem").read_bytes(), password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError(f"{directory / 'key.pem'} holds no RSA key; `make reset` makes a new one")
    return key


def _key_id(public: rsa.RSAPublicKey) -> str:
    encoded = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(encoded).hexdigest()[:16]
