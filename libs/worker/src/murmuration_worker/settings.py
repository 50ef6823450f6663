"""What every worker needs to know of its environment."""

from pydantic import PositiveFloat

from murmuration_runtime.settings import ServiceSettings


class WorkerSettings(ServiceSettings):
    """Where events and their schemas are, and how many seconds there may be lag without progress."""

    kafka_bootstrap_servers: str
    schema_registry_url: str
    stall_seconds: PositiveFloat = 90
