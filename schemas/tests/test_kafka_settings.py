"""A topic's settings do not change without a release that says so."""

import shutil

import pytest
import yaml

from contracts import ContractError, kafka_settings
from contracts.topic import DATA, load

from .small_contracts import KNOCKED, RENTED


@pytest.fixture
def data(tmp_path):
    """A copy of the data, to be changed."""
    return shutil.copytree(DATA, tmp_path / "data")


def change(data, topic, **entries):
    path = data / "topics" / f"{topic}.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | entries))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"retention_days": 8}, "FollowChanged: retention.ms is 691200000, and 1.2.0 told Kafka 604800000"),
        ({"segment_days": 2}, "FollowChanged: segment.ms is 172800000, and 1.2.0 told Kafka 86400000"),
        ({"max_message_bytes": 9}, "FollowChanged: max.message.bytes is 9, and 1.2.0 told Kafka 1048588"),
        ({"dead_letters": {"partitions": 2, "retention_days": 30}}, "FollowChanged.dlq: partitions is 2"),
    ],
)
def test_a_setting_that_no_release_names_is_refused(data, entries, said):
    """By topic, setting, and what Kafka was told last."""
    kafka_settings.check(load(data), data)
    change(data, "FollowChanged", **entries)
    with pytest.raises(ContractError, match=f"topic {said}.*a line in CHANGELOG.md and an entry in settings.yaml"):
        kafka_settings.check(load(data), data)


def test_a_compacted_topic_keeps_the_last_states_and_its_dead_letters_as_any_other():
    """A tombstone stays for the retention; what was replaced goes, also where nothing else makes Kafka clean."""
    day = 24 * 60 * 60 * 1000
    settings = kafka_settings.of_topic(RENTED, 3)
    assert (settings["cleanup.policy"], settings["delete.retention.ms"]) == ("compact", str(7 * day))
    assert settings["max.compaction.lag.ms"] == str(day)
    assert not {"retention.ms", "retention.bytes"} & settings.keys()
    assert kafka_settings.of_dead_letters(RENTED, 3) == kafka_settings.of_dead_letters(KNOCKED, 3)


def test_a_later_release_changes_what_it_names_and_nothing_else(data):
    """It repeats the whole topic, and leaves the others out."""
    path = data / "settings.yaml"
    releases = yaml.safe_load(path.read_text())
    first = releases["1.2.0"]["FollowChanged"]
    path.write_text(yaml.safe_dump(releases | {"9.0.0": {"FollowChanged": first | {"retention.ms": 691200000}}}))
    change(data, "FollowChanged", retention_days=8)
    kafka_settings.check(load(data), data)


def test_a_topic_that_no_release_names_is_refused_and_one_that_has_gone(data):
    """Neither comes or goes unnoticed."""
    path = data / "settings.yaml"
    releases = yaml.safe_load(path.read_text())
    ours = releases["1.2.0"].pop("TweetDeleted.dlq")
    path.write_text(yaml.safe_dump(releases))
    with pytest.raises(ContractError, match=r"TweetDeleted\.dlq: .* any release told Kafka nothing"):
        kafka_settings.check(load(data), data)
    releases["1.2.0"] |= {"TweetDeleted.dlq": ours, "Liked": ours}
    path.write_text(yaml.safe_dump(releases))
    with pytest.raises(ContractError, match="no topic's file is there for Liked"):
        kafka_settings.check(load(data), data)
