"""The environment, read once."""

from tempfile import gettempdir
from typing import Annotated

from pydantic import PositiveInt, StringConstraints

from murmuration_runtime.redis_connection import RedisConnection, RedisUrl
from murmuration_runtime.settings import JobSettings
from murmuration_suggested.settings import SuggestedSettings

# Spark takes such a URI as it stands, Arrow decodes it: nothing may stand in it that the two read differently.
FolderUri = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+://[^%\s]*[^%\s/]$")]


class Settings(JobSettings, SuggestedSettings):
    """What changes between a laptop and a cluster."""

    suggestions_folder: FolderUri
    suggestions_redis_url: RedisUrl
    suggestions_scratch: str = f"{gettempdir()}/murmuration-suggestions"
    suggestions_runs_kept: PositiveInt = 3
    spark_master: str = "local[*,3]"  # as many threads as there are cores; a task may fail twice
    spark_driver_memory: str = "1g"
    spark_conf: str = ""
    spark_partitions: PositiveInt = 8
    spark_parts: PositiveInt = 32

    @property
    def redis(self) -> RedisConnection:
        """Where lists are written."""
        return RedisConnection.of(self, "suggestions_redis")
