"""The environment, read once, into one object of settings.

Rule: nothing else reads the environment. What is missing or malformed stops the start, and all of it is named at once;
a secret is never shown. Any setting NAME may stand in a file instead, whose path is in NAME_FILE.
DynamoDB's address, region and credentials are boto3's own variables, AWS_*.
"""

import os
import re
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

Read = TypeVar("Read", bound=BaseSettings)


class SettingsFileError(Exception):
    """A file that should hold a setting cannot be read, or the setting stands in two places."""


class _Files(PydanticBaseSettingsSource):
    """The settings that stand in files, as Kubernetes mounts secrets."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return one setting's text."""
        del field
        name, variable = field_name.upper(), f"{field_name}_FILE".upper()
        path = os.environ.get(variable)
        if path is None or variable.lower() in self.settings_cls.model_fields:
            return None, field_name, False
        if name in os.environ:
            raise SettingsFileError(f"Both {name} and {variable} are set: keep one of them.")
        try:
            return Path(path).read_text("utf-8").rstrip("\r\n"), field_name, False
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise SettingsFileError(f"{variable} names {path!r}, which cannot be read: {reason}.") from error

    def __call__(self) -> dict[str, Any]:
        """Return all that there is."""
        found = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: text for name, text in found.items() if text is not None}


class EnvironmentSettings(BaseSettings):
    """What every class of settings extends: how the environment is read."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments, then the environment, then the files that it names."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, _Files(settings_cls)


class JobSettings(EnvironmentSettings):
    """What every process and every command has."""

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
    except SettingsFileError as error:
        faults = [str(error)]
    except ValidationError as error:
        faults = [_fault(settings, each["loc"], each["msg"]) for each in error.errors()]
    raise SystemExit("\n".join([*faults, "The README of this service lists its environment variables."])) from None


def _fault(settings: type[BaseSettings], where: tuple[int | str, ...], message: str) -> str:
    if not where:  # several settings that do not go together: the message names them
        return message.removeprefix("Value error, ")
    field = str(where[0])
    name, told = field.upper(), f"{message[0].lower()}{message[1:]}"
    if name not in os.environ:
        if (path := os.environ.get(f"{name}_FILE")) is not None:
            return f"{name}, which is read from the file {path!r}, is wrong: {told}."
        return f"The environment variable {name} is not set."
    if "Secret" in str(settings.model_fields[field].annotation):
        return f"The environment variable {name} is wrong: {told}."
    shown = re.sub(r"//[^/@]*@", "//…@", os.environ[name])  # a URL may hold a password
    return f"The environment variable {name} is {shown!r}: {told}."
