"""What the jobs need to know of their environment; the worker needs WorkerSettings and nothing else."""

from murmuration_runtime import settings
from murmuration_runtime.kafka_connection import KafkaSettings


class JobSettings(settings.JobSettings, KafkaSettings):
    """What a job needs."""


class ReconcilerSettings(JobSettings, settings.ServiceSettings):
    """What a job needs that keeps running."""
