"""How to reach the Redis of suggestions."""

from typing import Self

from pydantic import SecretStr, model_validator

from murmuration_runtime.redis_connection import RedisConnection, RedisUrl
from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text


class SuggestedSettings(EnvironmentSettings):
    """A Redis of its own, never the timelines'. Unless SUGGESTIONS_REDIS_URL is set there is none."""

    suggestions_redis_url: RedisUrl | None = None
    suggestions_redis_username: Text | None = None
    suggestions_redis_password: SecretStr | None = None
    suggestions_redis_ca_file: Text | None = None
    suggestions_redis_certificate_file: Text | None = None
    suggestions_redis_key_file: Text | None = None

    @property
    def suggestions_redis(self) -> RedisConnection | None:
        """Where lists are written and read."""
        return RedisConnection.of(self, "suggestions_redis") if self.suggestions_redis_url else None

    @model_validator(mode="after")
    def _suggestions_redis_settings_go_together(self) -> Self:
        if self.suggestions_redis and (faults := [*self.suggestions_redis.faults("SUGGESTIONS_REDIS")]):
            raise ValueError("\n".join(faults))
        return self
