"""The templates for AWS are what schemas/ says, and as small as AWS wants them."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from contracts import TOPICS
from contracts.acls import grants
from contracts.table_files import load
from contracts.topic import DATA

AWS = Path(__file__).parents[1] / "aws"
MOST_BYTES = 51_200  # of a template that is not uploaded to S3 first
MOST_OF_A_POLICY = 6_144  # characters but for white space


@pytest.fixture(scope="module")
def access():
    """What each template of a role makes, by the service's name."""
    return {path.stem: yaml.safe_load(path.read_text())["Resources"] for path in AWS.glob("access/*.yaml")}


def resources(access):
    """Return everything that the templates of roles make, with a name for each."""
    return [(f"{service}: {name}", it) for service, made in access.items() for name, it in made.items()]


def test_the_templates_are_what_their_files_say():
    """Change schemas/, and `python deploy/aws/templates.py` has to run."""
    done = subprocess.run(
        [sys.executable, AWS / "templates.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_table_is_kept_and_recoverable():
    """Under its own name, with what its file says of it; an index that is leaving goes by a migration's step alone."""
    tables = yaml.safe_load((AWS / "tables.yaml").read_text())["Resources"]
    assert len(tables) == len(load(DATA))
    for file, table in zip(load(DATA).values(), tables.values(), strict=True):
        made = table["Properties"]
        assert made["TableName"] == {"Fn::Sub": f"${{TablePrefix}}{file.name}"}
        assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")
        assert made["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert (made["DeletionProtectionEnabled"], made["BillingMode"]) == (True, "PAY_PER_REQUEST")
        assert made["SSESpecification"] == {"SSEEnabled": True}
        assert made.get("StreamSpecification", {}).get("StreamViewType") == file.stream
        assert made.get("TimeToLiveSpecification", {}).get("AttributeName") == file.expires
        whole = replace(file, indexes=file.every_index).create
        for part in ("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes"):
            assert made.get(part) == whole.get(part)


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_where_a_stack_makes_the_tables_the_charts_values_say_so(environment):
    """Made by the job, tables would have no protection, and the stack would find their names taken."""
    text = (AWS.parent / f"environments/{environment}/tables.yaml").read_text()
    head = text.partition("\nimage:")[0]
    assert "The tables themselves come from deploy/aws/tables.yaml" in head
    assert yaml.safe_load(text)["settings"]["TABLE_PREFIX"] == f"{environment}-"


def test_templates_and_policies_are_not_too_large(access):
    """A policy with the longest names that are likely."""
    for path in AWS.rglob("*.yaml"):
        assert path.stat().st_size < MOST_BYTES, path.name
    for name, resource in resources(access):
        if resource["Type"] == "AWS::IAM::ManagedPolicy":
            text = re.sub(r"\s", "", json.dumps(resource["Properties"]["PolicyDocument"]))
            assert len(re.sub(r"\$\{[^}]+}", "x" * 24, text)) < MOST_OF_A_POLICY, name


def test_a_read_by_key_may_leave_select_out_and_a_query_may_not(access):
    """IAM knows Select as a parameter of Query and Scan; a condition on a key that is never told refuses everything."""
    asked = {}
    for _, resource in resources(access):
        for statement in resource["Properties"].get("PolicyDocument", {}).get("Statement", ()):
            for operator, keys in statement.get("Condition", {}).items():
                if "dynamodb:Select" in keys:
                    asked.setdefault(operator, set()).update(statement["Action"])
    by_key, by_range = {"dynamodb:BatchGetItem", "dynamodb:GetItem"}, {"dynamodb:Query", "dynamodb:Scan"}
    assert asked == {"StringEqualsIfExists": by_key, "StringEquals": by_range}


def test_a_role_is_for_one_service_account_alone(access):
    """By Pod Identity's tags, or by the issuer's subject."""
    roles = [made["Role"]["Properties"]["AssumeRolePolicyDocument"] for made in access.values()]
    assert len(roles) == 9
    for trusted in roles:
        _, irsa, pods = trusted["Fn::If"]
        (statement,) = json.loads(irsa["Fn::Sub"])["Statement"]
        subject = statement["Condition"]["StringEquals"]["${OidcIssuer}:sub"]
        assert subject == "system:serviceaccount:${Namespace}:${Account}"
        (statement,) = pods["Statement"]
        tags = statement["Condition"]["StringEquals"]
        assert tags["aws:RequestTag/kubernetes-service-account"] == {"Ref": "Account"}
        assert tags["aws:RequestTag/kubernetes-namespace"] == {"Ref": "Namespace"}


def test_on_msk_a_service_may_do_what_kafkas_acls_allow_it(access):
    """Each grant is there in IAM's words, and whoever has none has no policy."""
    said = {"Read": {"ReadData", "AlterGroup"}, "Write": {"WriteData"}}
    said["DescribeConfigs"] = {"DescribeTopicDynamicConfiguration"}
    wanted = {(it.service, it.name, it.operation) for it in grants(TOPICS, str, str)}
    found = set()
    for service in {service for service, _, _ in wanted}:
        for statement in access[service]["Topics"]["Properties"]["PolicyDocument"]["Statement"]:
            actions = {action.removeprefix("kafka-cluster:") for action in statement["Action"]}
            for resource in statement["Resource"]:
                text = resource["Fn::Sub"] if isinstance(resource["Fn::Sub"], str) else resource["Fn::Sub"][0]
                found |= {(service, text.rpartition("}")[2], it) for it, words in said.items() if words & actions}
    assert found == wanted
    edges = ("tweet-service", "timeline-service")
    assert not any("Topics" in access[service] for service in edges)


@pytest.mark.parametrize("stem", TOPICS)
def test_who_reads_a_topic_from_outside_may_read_that_one_and_nothing_else(stem):
    """In groups whose names begin with readers; one policy a topic, so that nobody is given more than they need."""
    policy = yaml.safe_load((AWS / "readers.yaml").read_text())["Resources"][f"Read{stem}"]["Properties"]
    allowed = {
        (action, (name if isinstance(name := resource["Fn::Sub"], str) else name[0]).rpartition(":")[2])
        for statement in policy["PolicyDocument"]["Statement"]
        for action in statement["Action"]
        for resource in statement["Resource"]
    }
    topic, group = f"topic/${{MskCluster}}/${{TopicPrefix}}{stem}", "group/${MskCluster}/${Groups}readers.*"
    assert allowed == {
        ("kafka-cluster:Connect", "cluster/${MskCluster}"),
        ("kafka-cluster:DescribeTopic", topic),
        ("kafka-cluster:ReadData", topic),
        ("kafka-cluster:DescribeGroup", group),
        ("kafka-cluster:AlterGroup", group),
    }
