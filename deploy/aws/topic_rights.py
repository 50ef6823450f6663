"""What each service may do on an MSK cluster that asks IAM, by the producers and consumers in the topics' files. Pure.

Rule: the same as `python -m contracts acls` grants, in IAM's words. What an action needs besides is Amazon's list:
whoever writes or reads may connect and describe; whoever writes as an idempotent producer, as all here do, may do so.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from contracts.acls import Grant, grants, of_reader
from contracts.topic import Topic

TOPICS_JOB = "topics"  # `python -m contracts apply`
READERS = "readers"  # consumers outside: what their groups begin with
MAKES_TOPICS = (
    "AlterTopicDynamicConfiguration",
    "CreateTopic",
    "DescribeTopic",
    "DescribeTopicDynamicConfiguration",
)
ACTIONS = {
    ("Write", "topic"): ("DescribeTopic", "WriteData"),
    ("Read", "topic"): ("DescribeTopic", "ReadData"),
    ("DescribeConfigs", "topic"): ("DescribeTopicDynamicConfiguration",),
    ("Read", "group"): ("AlterGroup", "DescribeGroup"),
}
_CALLED = (lambda name: f"${{TopicPrefix}}{name}", lambda name: f"${{Groups}}{name}")
CLUSTER = "arn:${AWS::Partition}:kafka:${AWS::Region}:${AWS::AccountId}:"


def statements(service: str, topics: Mapping[str, Topic]) -> list[Any]:
    """Return the statements of a service's policy; none of one that does not speak to Kafka."""
    jobs = [topic for topic in topics.values() if service == TOPICS_JOB]
    made = {f"topic/${{MskCluster}}/${{TopicPrefix}}{name}" for topic in jobs for name in (topic.name, topic.dlq)}
    granted = [grant for grant in grants(topics, *_CALLED) if grant.service == service]
    return _statements({resource: {*MAKES_TOPICS} for resource in made}, granted)


def reader_statements(topic: Topic) -> list[Any]:
    """Return the statements of the policy of a consumer outside that reads this topic."""
    return _statements({}, of_reader(READERS, [topic], *_CALLED))


def _statements(more: Mapping[str, set[str]], granted: Iterable[Grant]) -> list[Any]:
    actions: dict[str, set[str]] = defaultdict(set, more)
    for grant in granted:
        name = f"{grant.name}{'*' * grant.prefixed}"
        actions[f"{grant.resource}/${{MskCluster}}/{name}"] |= {*ACTIONS[grant.operation, grant.resource]}
    if not actions:
        return []
    writes = any("WriteData" in each for each in actions.values())
    actions["cluster/${MskCluster}"] = {"Connect", *(["WriteDataIdempotently"] if writes else [])}
    resources = defaultdict(list)
    for resource, allowed in sorted(actions.items()):
        resources[tuple(sorted(allowed))].append(resource)
    return [
        {
            "Effect": "Allow",
            "Action": [f"kafka-cluster:{action}" for action in allowed],
            "Resource": [_named(resource) for resource in named],
        }
        for allowed, named in sorted(resources.items())
    ]


def _named(resource: str) -> dict[str, Any]:
    if "${Groups}" not in resource:
        return {"Fn::Sub": CLUSTER + resource}
    groups = {"Fn::If": ["OwnGroups", {"Ref": "GroupPrefix"}, {"Ref": "TopicPrefix"}]}
    return {"Fn::Sub": [CLUSTER + resource, {"Groups": groups}]}
