"""The environment, read once."""

from pydantic import PositiveInt

from murmuration_edge.settings import EdgeSettings
from murmuration_runtime.redis_connection import RedisSettings


class Settings(EdgeSettings, RedisSettings):
    """What changes between a laptop and a cluster."""

    rebuilds_in_flight: PositiveInt = 4
    celebrities_a_wave: PositiveInt = 100
