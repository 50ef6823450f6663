"""What the jobs need to know of their environment; the worker needs WorkerSettings and nothing else."""

from murmuration_runtime import settings


class JobSettings(settings.JobSettings):
    """What a job needs."""

    kafka_bootstrap_servers: str


class ReconcilerSettings(JobSettings, settings.ServiceSettings):
    """What a job needs that keeps running."""
