"""How this process reaches Redis: one node's URL, and what every node of its cluster asks for."""

from typing import Annotated, Any, Self

from pydantic import SecretStr, StringConstraints, model_validator

from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text, TlsFiles


class RedisSettings(EnvironmentSettings):
    """The settings of every client of Redis."""

    redis_url: Annotated[str, StringConstraints(pattern=r"^(rediss?|unix)://.+")]
    redis_username: Text | None = None
    redis_password: SecretStr | None = None
    redis_ca_file: Text | None = None
    redis_certificate_file: Text | None = None
    redis_key_file: Text | None = None

    def redis_options(self) -> dict[str, Any]:
        """Return what redis-py takes besides the URL; it reads the certificates' files for each connection."""
        named = {
            "username": self.redis_username,
            "password": self.redis_password.get_secret_value() if self.redis_password else None,
            "ssl_ca_certs": self.redis_ca_file,
            "ssl_certfile": self.redis_certificate_file,
            "ssl_keyfile": self.redis_key_file,
        }
        return {name: value for name, value in named.items() if value is not None}

    @model_validator(mode="after")
    def _redis_settings_go_together(self) -> Self:
        faults = []
        files = TlsFiles(self.redis_ca_file, self.redis_certificate_file, self.redis_key_file)
        if self.redis_username and not self.redis_password:
            faults.append("REDIS_USERNAME is set, and REDIS_PASSWORD is not: set it, too.")
        if self.redis_url.startswith("rediss:"):
            faults += files.faults("REDIS")
        elif any(files):
            faults.append("REDIS_*_FILE is set, and REDIS_URL does not begin with rediss://: correct one of them.")
        if faults:
            raise ValueError("\n".join(faults))
        return self
