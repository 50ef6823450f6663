"""The environment, read once, into one object of settings.

Rule: nothing else reads the environment. What is missing or malformed stops the start, and all of it is named at once.
DynamoDB's address, region and credentials are boto3's own variables, AWS_*.
"""

import os
from typing import Literal, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

Read = TypeVar("Read", bound=BaseSettings)


class JobSettings(BaseSettings):
    """What every process and every command has."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    table_prefix: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"


class ServiceSettings(JobSettings):
    """What every process has that keeps running."""

    admin_port: int
    host: str = "0.0.0.0"  # noqa: S104 - a container listens on all of its own interfaces
    build_commit: str = "unknown"


def read(settings: type[Read]) -> Read:
    """Read the environment; end the process with a sentence for each variable that is missing or wrong."""
    try:
        return settings()
    except ValidationError as error:
        faults = [_fault(str(each["loc"][0]).upper(), each["msg"]) for each in error.errors() if each["loc"]]
        raise SystemExit("\n".join([*faults, "The README of this service lists its environment variables."])) from None


def _fault(name: str, message: str) -> str:
    if name not in os.environ:
        return f"The environment variable {name} is not set."
    return f"The environment variable {name} is {os.environ[name]!r}: {message[0].lower()}{message[1:]}."
