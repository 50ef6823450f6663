"""The environment, read once. The service itself has no settings but those of every edge."""

from pydantic import PositiveInt

from murmuration_runtime.settings import JobSettings, ServiceSettings


class ErasureSettings(JobSettings):
    """What `python -m tweet_service erase --once` needs."""

    erasure_rate: PositiveInt = 100
    erasure_settled_seconds: PositiveInt = 3600


class EraserSettings(ErasureSettings, ServiceSettings):
    """What `python -m tweet_service erase` needs beside that, since it keeps running."""
