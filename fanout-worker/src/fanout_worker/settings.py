"""The environment, read once."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class JobSettings:
    """What an operator's command needs. DynamoDB's address and credentials are boto3's own variables."""

    kafka: str
    redis_url: str
    table_prefix: str
    log_level: str
    celebrity_threshold: int
    celebrity_ahead: float

    @classmethod
    def from_environment(cls) -> "JobSettings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            kafka=_need("KAFKA_BOOTSTRAP_SERVERS"),
            redis_url=_need("REDIS_URL"),
            table_prefix=os.environ.get("TABLE_PREFIX", ""),
            log_level=os.environ.get("LOG_LEVEL", "INFO"),
            celebrity_threshold=int(os.environ.get("CELEBRITY_THRESHOLD", "10000")),
            celebrity_ahead=float(os.environ.get("CELEBRITY_AHEAD", "20")),
        )


@dataclass(frozen=True)
class Settings(JobSettings):
    """What the worker needs besides."""

    registry_url: str
    host: str
    port: int
    stall_seconds: float

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings; the start stops at the first that is missing, and names it."""
        return cls(
            **vars(JobSettings.from_environment()),
            registry_url=_need("SCHEMA_REGISTRY_URL"),
            host=os.environ.get("HOST", "0.0.0.0"),  # noqa: S104 - a container listens on all of its own
            port=int(_need("PORT")),
            stall_seconds=float(os.environ.get("STALL_SECONDS", "90")),
        )


def _need(name: str) -> str:
    if name not in os.environ:
        raise SystemExit(f"set the environment variable {name}; the service's README lists them all")
    return os.environ[name]
