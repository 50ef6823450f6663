"""What a bridge needs to know of its environment, and a snapshot; another command needs the runtime's JobSettings."""

from enum import StrEnum

from pydantic import PositiveFloat, PositiveInt

from cdc_bridge.gaps import Policy
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.registry_connection import RegistrySettings
from murmuration_runtime.settings import JobSettings
from murmuration_runtime.traces import TracedSettings


class Start(StrEnum):
    """Where the very first bridge of a table begins."""

    TRIM_HORIZON = "TRIM_HORIZON"  # at the oldest record that the stream still has
    LATEST = "LATEST"  # behind everything that the stream has by then


class SnapshotSettings(JobSettings, RegistrySettings):
    """What a snapshot needs."""


class ExportSettings(JobSettings, KafkaSettings):
    """What an export needs."""


class Settings(TracedSettings, RegistrySettings):
    """What a bridge needs."""

    lease_seconds: PositiveFloat = 10
    reader_threads: PositiveInt = 16  # all shards take turns on them
    gap_policy: Policy = Policy.FAIL
    start_position: Start = Start.TRIM_HORIZON
