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
    following_cap: int

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; the start stops at the first that is missing or odd, and names it."""
        return cls(
            jwks_url=_need("JWT_JWKS_URL"),
            jwt_issuer=_need("JWT_ISSUER"),
            jwt_audience=_need("JWT_AUDIENCE"),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            following_cap=_number("FOLLOWING_CAP", "5000"),
        )


def _need(name: str) -> str:
    if name not in os.environ:
        raise SystemExit(f"set the environment variable {name}; the service's README lists them all")
    return os.environ[name]


def _number(name: str, default: str) -> int:
    text = os.environ.get(name, default)
    if not text.isdecimal():
        raise SystemExit(f"the environment variable {name} must be a whole number, not {text!r}")
    return int(text)
