"""What rules and dashboards ask for is what the processes of a whole stack export, after some traffic."""

import os

import pytest
from observe import expressions, run
from prometheus_client.parser import text_string_to_metric_families

from murmuration_testkit import probes
from murmuration_testkit.people import Person
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

pytestmark = pytest.mark.stack
PROMETHEUS_OWN = {"up", "ALERTS"}
MADE_BY_RULES = {rule["record"] for rule in expressions.rules() if "record" in rule}
OF_TROUBLE = frozenset({"code", "status", "reason", "source"})  # values that a healthy stack has not got
KINDS = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}


@pytest.fixture(scope="module")
def followed_and_tweeted():
    """Have something of everything happen once."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    alice.follow(bob)
    assert alice.timeline() == []
    bob.tweet("seen")
    eventually(alice.timeline, ["seen"])
    alice.unfollow(bob)
    alice.follow(bob)


def scraped():
    """Return each name that some process exports, with the labels of its series; a metric may have none yet."""
    found = {}
    for process in PROCESSES.values():
        _, text = probes.get(f"http://127.0.0.1:{os.environ[process.port_variable('ADMIN_PORT')]}/metrics")
        for family in text_string_to_metric_families(text):
            for ending in KINDS.get(family.type, ("",)):
                found.setdefault(family.name + ending, [])
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample.labels)
    return found


def unanswered():
    """Return each selector that no process answers."""
    found = scraped()
    asked = {each for expression in expressions.ours() for each in expressions.selectors(expression)}
    return sorted(
        str(each)
        for each in asked
        if each.metric not in PROMETHEUS_OWN | MADE_BY_RULES
        and (
            each.metric not in found
            or (found[each.metric] and not any(each.takes(labels, OF_TROUBLE) for labels in found[each.metric]))
        )
    )


@pytest.mark.usefixtures("followed_and_tweeted")
def test_every_metric_and_label_value_that_is_asked_for_is_exported():
    """A metric, a route, a table, a topic, a bucket's bound: what nobody exports would never alarm."""
    eventually(unanswered, [], within=20, every=0.5)


@pytest.mark.usefixtures("followed_and_tweeted")
def test_labels_by_which_lines_are_told_apart_are_exported():
    """In alarms' texts and in sums: of a metric that has series, each label that is named is there."""
    found = scraped()
    for expression in expressions.ours():
        asked = [each.metric for each in expressions.selectors(expression)]
        series = [labels for metric in asked for labels in found.get(metric, [])]
        if not all(found.get(metric) for metric in asked):
            continue  # a recorded one, or one that a healthy stack has no series of
        has = set().union(*series) | expressions.OF_TARGETS
        assert expressions.labels(expression) <= has, expression


def test_the_configuration_of_make_observe_scrapes_every_process(tmp_path):
    """By the ports that the stack has."""
    words = run.command({**os.environ, "STACK_DIR": str(tmp_path)})
    assert any(word.startswith("--config.file=") for word in words)
    written = (tmp_path / "prometheus/prometheus.yml").read_text()
    ports = [os.environ[process.port_variable("ADMIN_PORT")] for process in PROCESSES.values()]
    assert all(f"127.0.0.1:{port}" in written for port in ports)
    assert "alarms.yaml" in written
    assert "slo.yaml" in written
