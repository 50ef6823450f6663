"""What this service needs to know of its environment."""

from pydantic import NonNegativeFloat, PositiveInt

from murmuration_runtime import settings
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.redis_connection import RedisSettings
from murmuration_worker.settings import WorkerSettings


class JobSettings(settings.JobSettings, KafkaSettings, RedisSettings):
    """What an operator's command needs. Workers and commands must have the same celebrity_threshold."""

    celebrity_threshold: PositiveInt = 10_000
    celebrity_ahead: NonNegativeFloat = 20


class AuditorSettings(JobSettings, settings.ServiceSettings):
    """What a job needs that keeps running."""


class Settings(JobSettings, WorkerSettings):
    """What the worker needs."""
