"""The environment, read once."""

from pydantic import NonNegativeInt

from murmuration_edge.settings import EdgeSettings


class Settings(EdgeSettings):
    """What changes between a laptop and a cluster."""

    following_cap: NonNegativeInt = 5000
