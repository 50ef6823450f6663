"""`python -m contracts acls`: what each service must be allowed to do in Kafka, printed or granted."""

import re
import time
from argparse import Namespace
from collections.abc import Container

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from contracts import TOPICS, ContractError
from contracts.acls import Grant, grants, of_reader, services
from contracts.apply import METADATA_TIMEOUT_S, allow
from contracts.patience import say, until
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read

_READER = re.compile(r"(?P<name>[a-z][a-z0-9-]*):(?P<topics>[\w,]+)=(?P<principal>User:.+)")


def run(arguments: Namespace) -> int:
    """Print the rights, and grant them if that is asked for."""
    settings = read(KafkaSettings)
    needed = grants(TOPICS, settings.topic_name, settings.group_name)
    named = {service: f"User:{service}" for service in services(needed)}
    for text in arguments.principal:
        service, _, principal = text.partition("=")
        if service not in named or not principal.startswith("User:"):
            raise ContractError(f"--principal {text}: not SERVICE=User:NAME with a service of {', '.join(named)}")
        named[service] = principal
    for text in arguments.reader:
        name, principal, stems = _reader(text, named)
        named[name] = principal
        needed += of_reader(name, [TOPICS[stem] for stem in stems], settings.topic_name, settings.group_name)
    if arguments.apply:
        _allow(settings, needed, named)
    for grant in needed:
        say(grant.command(named[grant.service]))
    return 0


def _reader(text: str, others: Container[str]) -> tuple[str, str, list[str]]:
    found = _READER.fullmatch(text)
    stems = found["topics"].split(",") if found else []
    if not found or found["name"] in others or not {*stems} <= TOPICS.keys():
        raise ContractError(
            f"--reader {text}: not NAME:TOPIC,…=User:NAME, with a name in small letters that nobody else has, "
            f"and topics of {', '.join(TOPICS)}"
        )
    return found["name"], found["principal"], stems


def _allow(settings: KafkaSettings, needed: list[Grant], principals: dict[str, str]) -> None:

    def kafka_allows() -> bool:
        KafkaTopics(settings, [], METADATA_TIMEOUT_S).check()
        allow(admin, ((principals[grant.service], grant) for grant in needed))
        return True

    admin = AdminClient(settings.librdkafka(log_level=0))
    where = f"Kafka at {settings.kafka_bootstrap_servers}"
    until(time.monotonic(), where, (KafkaException, StoreAwayError), kafka_allows)
