"""What each service may do on an MSK cluster that asks IAM, by the producers and consumers in the topics' files. Pure.

Rule: the same as `python -m contracts acls` grants, in IAM's words. What an action needs besides is Amazon's list:
whoever writes or reads may connect and describe; whoever writes as an idempotent producer, as all here do, may do so.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from contracts.acls import grants
from contracts.topic import Topic

TOPICS_JOB = "topics"  # `python -m contracts apply`
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
CLUSTER = "arn:${AWS::Partition}:kafka:${AWS::Region}:${AWS::AccountId}:"


def statements(service: str, topics: Mapping[str, Topic]) -> list[Any]:
    """Return the statements of a service's policy; none of one that does not speak to Kafka."""
    actions: dict[str, set[str]] = defaultdict(set)
    if service == TOPICS_JOB:
        for topic in topics.values():
            for name in (topic.name, topic.dlq):
                actions[f"topic/${{MskCluster}}/${{TopicPrefix}}{name}"] |= {*MAKES_TOPICS}
    for grant in grants(topics, lambda name: f"${{TopicPrefix}}{name}", lambda name: f"${{Groups}}{name}"):
        if grant.service == service:
            actions[f"{grant.resource}/${{MskCluster}}/{grant.name}"] |= {*ACTIONS[grant.operation, grant.resource]}
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
