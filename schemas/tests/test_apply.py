"""`contracts apply`, on the real broker and registry, with topics and subjects that are thrown away."""

import json
import os
import time
import urllib.request
import uuid
from dataclasses import replace
from io import BytesIO

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)
from fastavro import parse_schema, schemaless_writer

from contracts import ContractError, UnknownSchemaError
from contracts.apply import apply_subject, apply_topics, wanted
from contracts.registry import Registry, codec_for

from .small_contracts import KNOCK, KNOCKED, RENTED

stack = pytest.mark.stack


@pytest.fixture
def admin():
    return AdminClient({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})


@pytest.fixture
def registry():
    return Registry(os.environ["SCHEMA_REGISTRY_URL"])


@pytest.fixture
def throwaway(request):
    """Knocked, or another topic, under a name of its own."""
    return replace(getattr(request, "param", KNOCKED), name=f"Throwaway-{uuid.uuid4()}")


@pytest.fixture
def subject(throwaway):
    """The throw-away's subject; gone afterwards."""
    yield throwaway.subject
    url = f"{os.environ['SCHEMA_REGISTRY_URL']}/subjects/{throwaway.subject}"
    urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=5).close()  # noqa: S310


@pytest.fixture
def topics(throwaway, admin):
    """What Kafka shall have of it; gone afterwards."""
    both = wanted(throwaway, 1)
    yield both
    for future in admin.delete_topics([topic.name for topic in both]).values():
        future.exception()


def eventually(condition):
    """Wait until it holds: a broker hears of a change a little after the controller made it."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def config_of(admin, name):
    (future,) = admin.describe_configs([ConfigResource(ResourceType.TOPIC, name)]).values()
    return {key: entry.value for key, entry in future.result().items()}


def test_a_laptop_has_fewer_replicas_and_nothing_else_is_different(throwaway):
    """With one broker, acknowledged by two would be acknowledged by nobody."""
    laptop, cluster = wanted(throwaway, 1)[0], wanted(throwaway, 3)[0]
    assert (cluster.replication_factor, cluster.config["min.insync.replicas"]) == (3, "2")
    assert (laptop.replication_factor, laptop.config["min.insync.replicas"]) == (1, "1")
    assert replace(laptop, replication_factor=3, config=cluster.config) == cluster


@stack
def test_topics_are_made_once(admin, topics, throwaway):
    """As their file says, with one for the dead beside it; the second time finds them there."""
    said = []
    assert apply_topics(admin, topics, said.append, dry_run=True)
    assert said == [
        f"topic {throwaway.name}: to be created, 12 partition(s)",
        f"topic {throwaway.name}.dlq: to be created, 1 partition(s)",
    ]
    said.clear()
    assert apply_topics(admin, topics, said.append)
    assert said == [
        f"topic {throwaway.name}: created, 12 partition(s)",
        f"topic {throwaway.name}.dlq: created, 1 partition(s)",
    ]
    said.clear()
    assert not apply_topics(admin, topics, said.append)
    assert said == [f"topic {throwaway.name}: already there", f"topic {throwaway.name}.dlq: already there"]
    config, dead = config_of(admin, throwaway.name), config_of(admin, throwaway.dlq)
    day = 24 * 60 * 60 * 1000
    assert (config["retention.ms"], config["cleanup.policy"]) == (str(7 * day), "delete")
    assert (dead["retention.ms"], dead["segment.ms"]) == (str(30 * day), str(day))
    assert (config["segment.ms"], config["max.message.bytes"]) == (str(day), "1048588")


@stack
@pytest.mark.parametrize("throwaway", [RENTED], indirect=True)
def test_a_compacted_topic_is_made_and_set_back_as_any_other(admin, topics, throwaway):
    """Whoever had it delete what is old would lose states for good."""
    assert apply_topics(admin, topics, print)
    entry = ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, throwaway.name, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()
    eventually(lambda: config_of(admin, throwaway.name)["cleanup.policy"] == "delete")
    assert apply_topics(admin, topics, print)
    eventually(lambda: config_of(admin, throwaway.name)["cleanup.policy"] == "compact")
    config, dead = config_of(admin, throwaway.name), config_of(admin, throwaway.dlq)
    day = 24 * 60 * 60 * 1000
    assert (config["delete.retention.ms"], config["max.compaction.lag.ms"]) == (str(7 * day), str(day))
    assert (dead["cleanup.policy"], dead["retention.ms"]) == ("delete", str(30 * day))


@stack
def test_drift_is_set_back(admin, topics, throwaway):
    """A retention that somebody shortened would lose events in the next outage."""
    apply_topics(admin, topics, print)
    entry = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, throwaway.name, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()
    eventually(lambda: config_of(admin, throwaway.name)["retention.ms"] == "1000")
    said = []
    assert apply_topics(admin, topics, said.append, dry_run=True)
    assert said[0] == f"topic {throwaway.name}: to be set back retention.ms={throwaway.retention_ms}, Kafka has 1000"
    assert config_of(admin, throwaway.name)["retention.ms"] == "1000"
    said.clear()
    assert apply_topics(admin, topics, said.append)
    assert said[0] == f"topic {throwaway.name}: set back retention.ms={throwaway.retention_ms}"
    eventually(lambda: config_of(admin, throwaway.name)["retention.ms"] == str(throwaway.retention_ms))


@stack
def test_a_topic_that_has_grown_is_refused(admin, topics, throwaway):
    """Half its keys would lie in two partitions."""
    apply_topics(admin, topics, print)
    for future in admin.create_partitions([NewPartitions(throwaway.name, 13)]).values():
        future.result()
    eventually(lambda: len(admin.list_topics(timeout=5).topics[throwaway.name].partitions) == 13)
    with pytest.raises(ContractError, match=f"{throwaway.name} has 13 partitions where .* says 12: .* a new topic"):
        apply_topics(admin, topics, print)


@stack
def test_a_topic_with_too_few_replicas_is_refused(admin, topics):
    """It would look safe, and hang on one disk."""
    apply_topics(admin, topics, print)
    doubled = [replace(topic, replication_factor=2) for topic in topics]
    with pytest.raises(ContractError, match="has 1 replicas, not 2: reassign"):
        apply_topics(admin, doubled, print)


@stack
def test_versions_are_registered_once_and_found(registry, throwaway, subject):
    """In order and held to the compatibility; the second time finds them; then the codec can be had."""
    url = os.environ["SCHEMA_REGISTRY_URL"]
    with pytest.raises(ContractError, match=f"{subject} is not registered, run `python -m contracts apply`"):
        codec_for(throwaway, url)
    said = []
    assert apply_subject(registry, throwaway, said.append, dry_run=True)
    assert said == [f"subject {subject}: version 1 to be registered"]
    said.clear()
    assert apply_subject(registry, throwaway, said.append)
    schema_id = registry.id_of(throwaway, throwaway.latest)
    assert said == [
        f"subject {subject}: version 1 registered, id {schema_id}",
        f"subject {subject}: compatibility set to FULL_TRANSITIVE",
    ]
    assert registry.compatibility(subject) == "FULL_TRANSITIVE"
    said.clear()
    assert not apply_subject(registry, throwaway, said.append)
    assert said == [f"subject {subject}: version 1 already there, id {schema_id}"]


@stack
def test_the_registry_itself_refuses_a_breaking_version(registry, throwaway, subject, schema, with_versions):
    """It names the field; the error adds whom it would hit."""
    broken = schema | {"fields": schema["fields"][1:]}
    topic = replace(with_versions(schema, broken), name=throwaway.name)
    with pytest.raises(ContractError, match=rf"refuses .*{subject} \(hits butler, cook\).*event_id"):
        apply_subject(registry, topic, print)


@stack
def test_the_registry_looks_further_back_than_the_last_version(registry, throwaway, subject, schema, with_versions):
    """A field that comes back as another type gets past its neighbour only."""
    first, third = (
        schema | {"fields": [*schema["fields"], {"name": "note", "type": kind, "default": default}]}
        for kind, default in (("string", ""), ("long", 0))
    )
    topic = replace(with_versions(first, schema, third), name=throwaway.name)
    said = []
    with pytest.raises(ContractError, match=f"refuses .*{subject}"):
        apply_subject(registry, topic, said.append)
    assert sum(" registered" in line for line in said) == 2


@stack
def test_a_released_schema_that_changed_is_refused(registry, throwaway, subject, schema, with_versions):
    """Be it only its doc: what was registered as version 1 stays version 1."""
    apply_subject(registry, throwaway, print)
    topic = replace(with_versions(schema | {"doc": "Something else."}), name=throwaway.name)
    for attempt in (
        lambda: apply_subject(registry, topic, print),
        lambda: codec_for(topic, os.environ["SCHEMA_REGISTRY_URL"]),
    ):
        with pytest.raises(ContractError, match=f"version 1 of {subject} .* a released schema never changes"):
            attempt()


@stack
@pytest.mark.usefixtures("subject")
def test_a_consumer_deployed_last_reads_a_newer_version(registry, throwaway, schema, with_versions):
    """It finds the schema by its id; an id that nobody has is told apart."""
    url = os.environ["SCHEMA_REGISTRY_URL"]
    note = {"name": "note", "type": "string", "default": ""}
    newer = replace(with_versions(schema, schema | {"fields": [*schema["fields"], note]}), name=throwaway.name)
    apply_subject(registry, newer, print)
    consumer = codec_for(throwaway, url)
    body = BytesIO(b"\0" + registry.id_of(newer, newer.latest).to_bytes(4, "big"))
    body.seek(5)
    record = vars(KNOCK) | {"source": {"shard_id": "s", "sequence_number": "7"}, "note": "new"}
    schemaless_writer(body, parse_schema(json.loads(newer.latest.schema)), record)
    assert consumer.decode(body.getvalue()) == KNOCK
    with pytest.raises(UnknownSchemaError, match="2147483647"):
        consumer.decode(b"\0\x7f\xff\xff\xff...")
