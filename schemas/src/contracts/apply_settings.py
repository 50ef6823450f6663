"""What `python -m contracts apply` reads from its environment."""

from pydantic import PositiveInt

from murmuration_runtime.registry_connection import RegistrySettings


class ApplySettings(RegistrySettings):
    """Where Kafka and the registry are; and how many replicas a topic gets, if not as many as its file says."""

    topic_replication_factor: PositiveInt | None = None
