"""The environment, read once."""

from pydantic import PositiveInt

from murmuration_edge.settings import EdgeSettings, Text


class Settings(EdgeSettings):
    """What changes between a laptop and a cluster."""

    redis_url: Text
    rebuilds_in_flight: PositiveInt = 4
    celebrities_a_wave: PositiveInt = 100
