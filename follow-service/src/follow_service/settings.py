"""The environment, read once."""

from pydantic import NonNegativeInt, PositiveInt

from murmuration_edge.limit_settings import DAY_S
from murmuration_edge.settings import EdgeSettings
from murmuration_edge.token_buckets import Budget


class Settings(EdgeSettings):
    """What changes between a laptop and a cluster."""

    following_cap: NonNegativeInt = 5000
    limit_follows_a_day: PositiveInt = 400
    limit_follows_burst: PositiveInt = 50

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that this service's operations are counted in."""
        return *super().budgets, Budget("follows", self.limit_follows_a_day, DAY_S, self.limit_follows_burst)
