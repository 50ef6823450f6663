"""The environment, read once."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What changes between a laptop and a cluster. DynamoDB's address and credentials are boto3's own variables."""

    jwks_url: str
    jwt_issuer: str
    jwt_audience: str
    redis_url: str
    table_prefix: str
    rebuilds_in_flight: int
    celebrities_a_wave: int

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            jwks_url=_need("JWT_JWKS_URL"),
            jwt_issuer=_need("JWT_ISSUER"),
            jwt_audience=_need("JWT_AUDIENCE"),
            redis_url=_need("REDIS_URL"),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            rebuilds_in_flight=_count("REBUILDS_IN_FLIGHT", 4),
            celebrities_a_wave=_count("CELEBRITIES_A_WAVE", 100),
        )


def _need(name: str) -> str:
    if name not in os.environ:
        raise SystemExit(f"set the environment variable {name}; the service's README lists them all")
    return os.environ[name]


def _count(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) == 0:
        raise SystemExit(f"{name} must be a whole number from 1 on, not {text!r}")
    return int(text)
