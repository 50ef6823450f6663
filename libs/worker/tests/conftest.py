"""Messages as they lie in Kafka."""

import pytest

from contracts import TOPICS
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.ports import free_port
from murmuration_worker.messages import Message

from .whole_worker import Kafka, Worker

WRITTEN_MS = 1_763_478_000_000.0
NAMES = (
    "murmuration-worker murmuration-runtime murmuration-testkit event-contracts pytest ruff boto3 pydantic flask "
    "hypothesis mypy hatchling fastavro supervisor botocore"
)
GROUPS = iter(NAMES.split())  # a service is an installed distribution, and each test has a group of its own
NAMED = [("followee_id", b"bob"), ("follower_id", b"alice"), ("odd", None)]


@pytest.fixture
def message():
    """Make a message of FollowChanged; its ids stand in its headers."""

    def make(value, *, offset=7, headers=NAMED):
        return Message("FollowChanged", 3, offset, b"bob", value, [*headers], WRITTEN_MS)

    return make


@pytest.fixture
def topic():
    return TOPICS["FollowChanged"]


@pytest.fixture
def no_issuer():
    """The settings of a client whose token endpoint is away."""
    return KafkaSettings(
        kafka_bootstrap_servers="kafka:9092",
        kafka_security_protocol="SASL_PLAINTEXT",
        kafka_sasl_mechanism="OAUTHBEARER",
        kafka_oauth_client_id="me",
        kafka_oauth_client_secret="secret",
        kafka_oauth_token_url=f"http://127.0.0.1:{free_port()}/token",
    )


@pytest.fixture
def kafka(request):
    kafka = Kafka(getattr(request, "param", "FollowChanged"))
    kafka.create(kafka.topic.partitions)
    yield kafka
    kafka.delete()


@pytest.fixture
def start(kafka):
    """Start workers of one group."""
    group, workers = next(GROUPS), []

    def start_one(does="work"):
        workers.append(Worker(group, kafka, does))
        return workers[-1]

    yield start_one
    for worker in workers:
        worker.kill()
