"""The environment, read once."""

from pydantic import NonNegativeInt, PositiveInt

from murmuration_edge.limit_settings import DAY_S
from murmuration_edge.settings import EdgeSettings
from murmuration_edge.token_buckets import Budget
from murmuration_runtime.settings import JobSettings, ServiceSettings


class Settings(EdgeSettings):
    """What changes between a laptop and a cluster."""

    following_cap: NonNegativeInt = 5000
    limit_follows_a_day: PositiveInt = 400
    limit_follows_burst: PositiveInt = 50

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that this service's operations are counted in."""
        return *super().budgets, Budget("follows", self.limit_follows_a_day, DAY_S, self.limit_follows_burst)


class FinishingSettings(JobSettings):
    """What `python -m follow_service finish --once` needs."""

    finishing_rate: PositiveInt = 100
    finishing_settled_seconds: PositiveInt = 600
    following_cap: NonNegativeInt = 5000


class FinisherSettings(FinishingSettings, ServiceSettings):
    """What `python -m follow_service finish` needs beside that, since it keeps running."""
