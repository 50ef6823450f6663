"""The environment, read once."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What changes between a laptop and a cluster. DynamoDB's address and credentials are boto3's own variables."""

    jwks_url: str
    jwt_issuer: str
    jwt_audience: str
    table_prefix: str

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            jwks_url=_need("JWT_JWKS_URL"),
            jwt_issuer=_need("JWT_ISSUER"),
            jwt_audience=_need("JWT_AUDIENCE"),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
        )


@dataclass(frozen=True)
class ErasureSettings:
    """What `python -m tweet_service erase` needs."""

    host: str
    port: int
    table_prefix: str
    log_level: str
    rate: int
    settled_seconds: int

    @classmethod
    def from_environment(cls, *, serves: bool) -> "ErasureSettings":
        """Read the settings; where to answer probes is wanted only of a process that goes on."""
        return cls(
            host=os.environ.get("HOST", "0.0.0.0"),  # noqa: S104 - a container listens on all of its own
            port=int(_need("PORT")) if serves else 0,
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            log_level=os.environ.get("LOG_LEVEL", "INFO"),
            rate=_positive("ERASURE_RATE", "100"),
            settled_seconds=_positive("ERASURE_SETTLED_SECONDS", "3600"),
        )


def _need(name: str) -> str:
    if name not in os.environ:
        raise SystemExit(f"set the environment variable {name}; the service's README lists them all")
    return os.environ[name]


def _positive(name: str, default: str) -> int:
    text = os.environ.get(name, default)
    if not text.isdecimal() or int(text) == 0:
        raise SystemExit(f"the environment variable {name} must be a whole number above 0, not {text!r}")
    return int(text)
