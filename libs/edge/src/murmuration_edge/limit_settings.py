"""The settings of limits: how much a caller may do, and the Redis that all processes count in."""

from typing import Self

from pydantic import PositiveInt, SecretStr, model_validator

from murmuration_edge.token_buckets import Budget
from murmuration_runtime.redis_connection import RedisConnection, RedisUrl
from murmuration_runtime.settings import EnvironmentSettings
from murmuration_runtime.tls_files import Text

MINUTE_S = 60
DAY_S = 24 * 3600


class LimitSettings(EnvironmentSettings):
    """Unless LIMITS_REDIS_URL is set, each process counts alone. A service with budgets of its own adds them."""

    limit_calls_a_minute: PositiveInt = 1200
    limit_calls_burst: PositiveInt = 300
    limits_redis_url: RedisUrl | None = None
    limits_redis_username: Text | None = None
    limits_redis_password: SecretStr | None = None
    limits_redis_ca_file: Text | None = None
    limits_redis_certificate_file: Text | None = None
    limits_redis_key_file: Text | None = None

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that this service's operations are counted in."""
        return (Budget("calls", self.limit_calls_a_minute, MINUTE_S, self.limit_calls_burst),)

    @property
    def limits_redis(self) -> RedisConnection | None:
        """Where all processes count together."""
        return RedisConnection.of(self, "limits_redis") if self.limits_redis_url else None

    @model_validator(mode="after")
    def _limits_redis_settings_go_together(self) -> Self:
        if self.limits_redis and (faults := [*self.limits_redis.faults("LIMITS_REDIS")]):
            raise ValueError("\n".join(faults))
        return self
