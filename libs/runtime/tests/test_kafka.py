"""Topics as a real broker has them, against their contracts."""

import dataclasses
import uuid
from contextlib import suppress

import pytest
from confluent_kafka.admin import NewTopic

from contracts import TOPICS, ContractError
from murmuration_runtime.kafka import KafkaAwayError, KafkaTopics
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually


@pytest.fixture
def kafka_settings():
    return KafkaSettings()


@pytest.mark.stack
class TestIds:
    def test_the_contracts_topics_pass(self, kafka_settings):
        """Extra topics too, each with the id that tells it from one made later under its name."""
        extra = [topic.dlq for topic in TOPICS.values()]
        ids = KafkaTopics(kafka_settings, TOPICS.values()).ids(extra)
        assert set(ids) == {*TOPICS, *extra}
        assert len(set(ids.values())) == len(ids)

    def test_a_topic_made_again_has_another_id(self, kafka_settings):
        """A producer sees no error; what was acknowledged before is gone."""
        contract = dataclasses.replace(TOPICS["FollowChanged"], name=f"runtime-{uuid.uuid4().hex}", partitions=2)
        kafka = admin()

        def make():
            kafka.create_topics([NewTopic(contract.name, 2, 1)])[contract.name].result(10)
            topics = KafkaTopics(kafka_settings, [contract])
            return eventually(lambda: found(topics))

        def found(topics):
            with suppress(KafkaAwayError):
                return topics.ids()

        def delete():
            kafka.delete_topics([contract.name])[contract.name].result(10)

        before = make()
        delete()
        eventually(lambda: contract.name not in kafka.list_topics(timeout=5).topics)
        after = make()
        delete()
        assert before.keys() == after.keys() == {contract.name}
        assert before != after

    def test_another_number_of_partitions_is_refused(self, kafka_settings):
        """With 13 where 12 are, each key would lie in two partitions in its life."""
        wrong = dataclasses.replace(TOPICS["FollowChanged"], partitions=13)
        with pytest.raises(ContractError, match="FollowChanged has 12 partitions where its contract says 13"):
            KafkaTopics(kafka_settings, [wrong]).ids()

    @pytest.mark.parametrize("missing", ["topic", "extra"])
    def test_a_missing_topic_is_waited_for(self, kafka_settings, missing):
        """It says how to make it."""
        contract = dataclasses.replace(TOPICS["FollowChanged"], name="Nowhere")
        topics = KafkaTopics(kafka_settings, [contract] if missing == "topic" else [])
        with pytest.raises(KafkaAwayError, match="no topic Nowhere: run `python -m contracts apply`"):
            topics.ids([] if missing == "topic" else ["Nowhere"])


def test_a_broker_that_is_away_is_waited_for():
    """With its address."""
    with pytest.raises(KafkaAwayError, match=r"Kafka at 127\.0\.0\.1:1 does not answer"):
        KafkaTopics(KafkaSettings(kafka_bootstrap_servers="127.0.0.1:1"), TOPICS.values(), timeout=0.1).ids()
