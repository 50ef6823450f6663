"""How to reach the Redis in which profiles and lists are kept."""

from typing import Self

from pydantic import SecretStr, model_validator

from murmuration_runtime.redis_connection import RedisConnection, RedisUrl
from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text


class GraphRedisSettings(EnvironmentSettings):
    """A Redis of its own, never the timelines'. Unless GRAPH_REDIS_URL is set there is none: the tables serve all."""

    graph_redis_url: RedisUrl | None = None
    graph_redis_username: Text | None = None
    graph_redis_password: SecretStr | None = None
    graph_redis_ca_file: Text | None = None
    graph_redis_certificate_file: Text | None = None
    graph_redis_key_file: Text | None = None

    @property
    def graph_redis(self) -> RedisConnection | None:
        """Where they are kept."""
        return RedisConnection.of(self, "graph_redis") if self.graph_redis_url else None

    @model_validator(mode="after")
    def _graph_redis_settings_go_together(self) -> Self:
        if self.graph_redis and (faults := [*self.graph_redis.faults("GRAPH_REDIS")]):
            raise ValueError("\n".join(faults))
        return self
