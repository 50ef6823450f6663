"""Where the topics of an export end."""

from cdc_bridge.export import TABLES, Place
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings


def ends(settings: KafkaSettings) -> dict[str, Place]:
    """Return the end of each topic that tells of an exported table."""
    topics = [topic for table in TABLES.values() for topic in table.then_read]
    kafka = KafkaTopics(settings, topics)
    ids, offsets = kafka.ids(), kafka.ends(kafka.partitions)
    return {it.name: Place(ids[it.name], [offsets[it.name, n] for n in range(it.partitions)]) for it in topics}
