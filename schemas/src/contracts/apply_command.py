"""`python -m contracts apply`: makes Kafka and the registry follow the files, or says what differs."""

import time
from argparse import Namespace
from dataclasses import replace

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from contracts import TOPICS
from contracts.apply import METADATA_TIMEOUT_S, apply_subject, apply_topics, wanted
from contracts.apply_settings import ApplySettings
from contracts.patience import say, until
from contracts.registry import RegistryAwayError
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.settings import read


def run(arguments: Namespace) -> int:
    """Apply; of a dry run 1 says that something differs."""
    dry_run: bool = arguments.dry_run
    settings = read(ApplySettings)
    called = [replace(topic, name=settings.topic_name(topic.name)) for topic in TOPICS.values()]
    factor = settings.topic_replication_factor
    topics = [each for topic in called for each in wanted(topic, factor or topic.replication_factor)]
    admin = AdminClient(settings.librdkafka(log_level=0))  # in a variable, or its futures die with it
    registry = settings.registry()

    def kafka_differs() -> bool:
        KafkaTopics(settings, [], METADATA_TIMEOUT_S).check()  # its errors say more
        return apply_topics(admin, topics, say, dry_run=dry_run)

    def registry_differs() -> bool:
        return sum(apply_subject(registry, topic, say, dry_run=dry_run) for topic in TOPICS.values()) > 0

    deadline = time.monotonic() + arguments.wait
    away = f"Kafka at {settings.kafka_bootstrap_servers}"
    differ = until(deadline, away, (KafkaException, StoreAwayError), kafka_differs)
    differ |= until(deadline, f"the registry at {settings.schema_registry_url}", (RegistryAwayError,), registry_differs)
    return int(dry_run and differ)
