"""The environment, read once."""

from pydantic import PositiveInt

from murmuration_edge.limit_settings import DAY_S
from murmuration_edge.settings import EdgeSettings
from murmuration_edge.token_buckets import Budget
from murmuration_runtime.settings import JobSettings, ServiceSettings


class Settings(EdgeSettings):
    """What the API needs."""

    limit_tweets_a_day: PositiveInt = 2400
    limit_tweets_burst: PositiveInt = 100

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that this service's operations are counted in."""
        return *super().budgets, Budget("tweets", self.limit_tweets_a_day, DAY_S, self.limit_tweets_burst)


class ErasureSettings(JobSettings):
    """What `python -m tweet_service erase --once` needs."""

    erasure_rate: PositiveInt = 100
    erasure_settled_seconds: PositiveInt = 3600


class EraserSettings(ErasureSettings, ServiceSettings):
    """What `python -m tweet_service erase` needs beside that, since it keeps running."""
