"""What every worker needs to know of its environment."""

from pydantic import PositiveFloat

from murmuration_runtime.registry_connection import RegistrySettings
from murmuration_runtime.traces import TracedSettings


class WorkerSettings(TracedSettings, RegistrySettings):
    """Where events and their schemas are, and how many seconds there may be lag without progress."""

    stall_seconds: PositiveFloat = 90
