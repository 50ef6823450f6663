"""What each service must be allowed to do in Kafka, by the producers and consumers in the topics' files. Pure.

Rule: nothing more than that. To write or to read includes to describe. Who reads from outside may read the topics that
are named to it, in groups of its own, and neither dead letters nor anything else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from contracts.topic import Topic

Named = Callable[[str], str]


class Grant(NamedTuple):
    """One service may do one thing with one topic or group, called as this Kafka calls it."""

    service: str
    operation: str
    resource: str
    name: str
    prefixed: bool = False  # whether whatever begins with the name is meant

    def command(self, principal: str) -> str:
        """Return the words behind `kafka-acls.sh --bootstrap-server … --add` that allow it."""
        what = f"--{self.resource} '{self.name}'{' --resource-pattern-type prefixed' * self.prefixed}"
        return f"--allow-principal '{principal}' --operation {self.operation} {what}"


def grants(topics: Mapping[str, Topic], topic_name: Named, group_name: Named) -> list[Grant]:
    """Return what all services need, each once, in the order of their names."""
    return sorted({grant for topic in topics.values() for grant in _of(topic, topic_name, group_name)})


def of_reader(name: str, topics: Iterable[Topic], topic_name: Named, group_name: Named) -> list[Grant]:
    """Return what a consumer outside needs; its groups are called as it is, a dot, and what it likes."""
    read = [Grant(name, "Read", "topic", topic_name(topic.name)) for topic in topics]
    return [*read, Grant(name, "Read", "group", group_name(f"{name}."), prefixed=True)]


def services(needed: Iterable[Grant]) -> list[str]:
    """Return the services that speak to Kafka."""
    return sorted({grant.service for grant in needed})


def _of(topic: Topic, topic_name: Named, group_name: Named) -> Iterator[Grant]:
    for service in topic.producers:
        yield Grant(service, "Write", "topic", topic_name(topic.name))
        yield Grant(service, "Write", "topic", topic_name(topic.dlq))
    for service in topic.consumers:
        yield Grant(service, "Read", "topic", topic_name(topic.name))
        yield Grant(service, "DescribeConfigs", "topic", topic_name(topic.name))  # is it as its contract says?
        yield Grant(service, "Write", "topic", topic_name(topic.dlq))
        yield Grant(service, "Read", "topic", topic_name(topic.dlq))
        yield Grant(service, "Read", "group", group_name(service))
        yield Grant(service, "Read", "group", group_name(f"{service}.dead-letters"))
