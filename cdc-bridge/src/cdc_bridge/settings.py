"""The environment, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from cdc_bridge.gaps import Policy


class SettingError(Exception):
    """A variable that is missing or malformed, by name."""


class Start(StrEnum):
    """Where the very first bridge of a table begins."""

    TRIM_HORIZON = "TRIM_HORIZON"  # at the oldest record that the stream still has
    LATEST = "LATEST"  # behind everything that the stream has by then


Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Settings:
    """All that differs between a laptop and a cluster; boto3 reads its own AWS_* variables."""

    kafka_bootstrap_servers: str
    schema_registry_url: str
    port: int
    host: str
    table_prefix: str
    log_level: str
    lease_seconds: float
    gap_policy: Policy
    start: Start

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Read every setting, or name the first one that is wrong."""

        def number(name: str, default: str | None = None) -> float:
            text = env[name] if default is None else env.get(name, default)
            try:
                return float(text)
            except ValueError:
                raise SettingError(f"{name} is {text!r}, which is not a number") from None

        def one_of(choices: type[Choice], name: str, default: Choice) -> Choice:
            text = env.get(name, default)
            try:
                return choices(text)
            except ValueError:
                raise SettingError(f"{name} is {text!r}, which is none of {', '.join(choices)}") from None

        try:
            return cls(
                kafka_bootstrap_servers=env["KAFKA_BOOTSTRAP_SERVERS"],
                schema_registry_url=env["SCHEMA_REGISTRY_URL"],
                port=int(number("PORT")),
                host=env.get("HOST", "0.0.0.0"),  # noqa: S104 - a container's own interface
                table_prefix=table_prefix(env),
                log_level=env.get("LOG_LEVEL", "INFO"),
                lease_seconds=number("LEASE_SECONDS", "10"),
                gap_policy=one_of(Policy, "GAP_POLICY", Policy.FAIL),
                start=one_of(Start, "START_POSITION", Start.TRIM_HORIZON),
            )
        except KeyError as error:
            raise SettingError(f"{error.args[0]} is not set") from None


def table_prefix(env: Mapping[str, str]) -> str:
    """Read all that a command needs beside boto3's own variables."""
    return env.get("TABLE_PREFIX", "")
