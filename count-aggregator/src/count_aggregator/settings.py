"""The environment, read once."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What changes between a laptop and a cluster. DynamoDB's address and credentials are boto3's own variables."""

    kafka: str
    registry_url: str
    host: str
    port: int
    table_prefix: str
    log_level: str
    stall_seconds: float

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            kafka=_need("KAFKA_BOOTSTRAP_SERVERS"),
            registry_url=_need("SCHEMA_REGISTRY_URL"),
            host=os.environ.get("HOST", "0.0.0.0"),  # noqa: S104 - a container listens on all of its own
            port=int(_need("PORT")),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            log_level=os.environ.get("LOG_LEVEL", "INFO"),
            stall_seconds=float(os.environ.get("STALL_SECONDS", "90")),
        )


@dataclass(frozen=True)
class JobSettings:
    """What a job needs of them."""

    kafka: str
    table_prefix: str
    log_level: str

    @classmethod
    def from_environment(cls) -> "JobSettings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            kafka=_need("KAFKA_BOOTSTRAP_SERVERS"),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            log_level=os.environ.get("LOG_LEVEL", "INFO"),
        )


def _need(name: str) -> str:
    if name not in os.environ:
        raise SystemExit(f"set the environment variable {name}; the service's README lists them all")
    return os.environ[name]
