"""How this process reaches Redis: one node's URL, and what every node of its cluster asks for."""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, Self

from pydantic import SecretStr, StringConstraints, model_validator

from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text, TlsFiles

RedisUrl = Annotated[str, StringConstraints(pattern=r"^(rediss?|unix)://.+")]


class RedisConnection(NamedTuple):
    """What the settings of one Redis say."""

    url: str
    username: str | None
    password: SecretStr | None
    files: TlsFiles

    @classmethod
    def of(cls, settings: EnvironmentSettings, name: str) -> Self:
        """Return what the settings say whose names begin with this one."""
        files = TlsFiles(*(getattr(settings, f"{name}_{kind}_file") for kind in ("ca", "certificate", "key")))
        url, username, password = (getattr(settings, f"{name}_{what}") for what in ("url", "username", "password"))
        return cls(url, username, password, files)

    def options(self) -> dict[str, Any]:
        """Return what redis-py takes besides the URL; it reads the certificates' files for each connection."""
        named = {
            "username": self.username,
            "password": self.password.get_secret_value() if self.password else None,
            "ssl_ca_certs": self.files.ca,
            "ssl_certfile": self.files.certificate,
            "ssl_keyfile": self.files.key,
        }
        return {name: value for name, value in named.items() if value is not None}

    def faults(self, prefix: str) -> Iterator[str]:
        """Say what does not go together; the settings' names begin with the prefix."""
        if self.username and not self.password:
            yield f"{prefix}_USERNAME is set, and {prefix}_PASSWORD is not: set it, too."
        if self.url.startswith("rediss:"):
            yield from self.files.faults(prefix)
        elif any(self.files):
            yield f"{prefix}_*_FILE is set, and {prefix}_URL does not begin with rediss://: correct one of them."


class RedisSettings(EnvironmentSettings):
    """The settings of every client of the timelines' Redis."""

    redis_url: RedisUrl
    redis_username: Text | None = None
    redis_password: SecretStr | None = None
    redis_ca_file: Text | None = None
    redis_certificate_file: Text | None = None
    redis_key_file: Text | None = None

    def redis_options(self) -> dict[str, Any]:
        """Return what redis-py takes besides the URL."""
        return self._redis.options()

    @property
    def _redis(self) -> RedisConnection:
        return RedisConnection.of(self, "redis")

    @model_validator(mode="after")
    def _redis_settings_go_together(self) -> Self:
        if faults := [*self._redis.faults("REDIS")]:
            raise ValueError("\n".join(faults))
        return self
