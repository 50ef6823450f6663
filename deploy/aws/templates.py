"""Write the CloudFormation templates beside this file anew, from schemas/tables, schemas/migrations and schemas/topics.

tables.yaml has the tables; access/ has a template for each service and each job, with a role and a policy of no more
than it needs; readers.yaml has a policy for each topic, for consumers outside.
With --check nothing is written; the exit code is 1 if a template is not what its files say.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import table_rights
import topic_rights
import yaml

from contracts import TOPICS, migrations
from contracts.table_files import TableFile, load
from contracts.topic import DATA

HERE = Path(__file__).parent
HEAD = "# Made by deploy/aws/templates.py from schemas/; do not edit. `python deploy/aws/templates.py` makes it anew.\n"
WIDTH = 160
SHORT = 250  # characters: a template may have no more than 51,200 bytes
JOBS = {table_rights.TABLES_JOB: "tables", topic_rights.TOPICS_JOB: "schemas"}  # by their charts
NAME = {"Type": "String", "Default": "", "AllowedPattern": "[a-zA-Z0-9_.-]*"}
PREFIX = {**NAME, "Description": "TABLE_PREFIX of the services: stands before the name of every table"}
OWN_GROUPS = {"OwnGroups": {"Fn::Not": [{"Fn::Equals": [{"Ref": "GroupPrefix"}, ""]}]}}
TRUSTED = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", '
    '"Principal": {"Federated": "arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/${OidcIssuer}"}, '
    '"Condition": {"StringEquals": {"${OidcIssuer}:aud": "sts.amazonaws.com", '
    '"${OidcIssuer}:sub": "system:serviceaccount:${Namespace}:${Account}"}}}]}'
)


def tables() -> dict[str, Any]:
    """Return the template of the tables; what it made, it never deletes."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Murmuration's tables: on demand, encrypted, recoverable to any second of the last 35 days",
        "Parameters": {"TablePrefix": PREFIX},
        "Resources": {_camel(name): _table(file) for name, file in load(DATA).items()},
    }


def _table(file: TableFile) -> dict[str, Any]:
    shape = replace(file, indexes=file.every_index).create  # only tables.py's contract may drop one
    stream = shape.pop("StreamSpecification", None)
    expires = {"TimeToLiveSpecification": {"AttributeName": file.expires, "Enabled": True}}
    return {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "TableName": {"Fn::Sub": f"${{TablePrefix}}{file.name}"},
            "BillingMode": "PAY_PER_REQUEST",
            **shape,
            **({"StreamSpecification": {"StreamViewType": stream["StreamViewType"]}} if stream else {}),
            **(expires if file.expires else {}),
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            "DeletionProtectionEnabled": True,
            "SSESpecification": {"SSEEnabled": True},
        },
    }


def access() -> dict[str, dict[str, Any]]:
    """Return a template for each service and each job: its role and its policies."""
    files = load(DATA)
    known = migrations.load(DATA, files)
    who = {service for file in files.values() for service in file.access} | {topic_rights.TOPICS_JOB}
    return {
        JOBS.get(service, service): _access(
            JOBS.get(service, service),
            table_rights.statements(service, files, known),
            topic_rights.statements(service, TOPICS),
        )
        for service in sorted(who)
    }


def _access(who: str, in_tables: list[Any], on_topics: list[Any]) -> dict[str, Any]:
    resources: dict[str, Any] = {}
    policies: list[Any] = []
    if in_tables:
        policies.append({"Ref": "Tables"})
        resources["Tables"] = _policy(f"What {who} may do in DynamoDB", in_tables)
    if on_topics:
        policies.append({"Fn::If": ["MskIam", {"Ref": "Topics"}, {"Ref": "AWS::NoValue"}]})
        resources["Topics"] = {"Condition": "MskIam", **_policy(f"What {who} may do on MSK", on_topics)}
    conditions: dict[str, Any] = {
        "Irsa": {"Fn::Not": [{"Fn::Equals": [{"Ref": "OidcIssuer"}, ""]}]},
        "PodIdentity": {"Fn::Not": [{"Fn::Equals": [{"Ref": "EksCluster"}, ""]}]},
    }
    parameters: dict[str, Any] = {"TablePrefix": PREFIX} if in_tables else {}
    if on_topics:
        parameters |= _kafka()
        conditions |= {"MskIam": {"Fn::Not": [{"Fn::Equals": [{"Ref": "MskCluster"}, ""]}]}, **OWN_GROUPS}
    if "OwnGroups" not in str(on_topics):  # a producer alone: no group to name
        parameters.pop("GroupPrefix", None)
        conditions.pop("OwnGroups", None)
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"Murmuration's {who}: what it may do in DynamoDB, and on MSK if it asks IAM",
        "Parameters": {
            **parameters,
            **_cluster(),
            "Account": {**NAME, "Default": who, "Description": f"ServiceAccount of {who}"},
        },
        "Conditions": conditions,
        "Resources": {**resources, "Role": _role(who, policies), "Identity": _association()},
        "Outputs": {"Role": {"Value": {"Fn::GetAtt": ["Role", "Arn"]}}},
    }


def readers() -> dict[str, Any]:
    """Return the template of the policies for consumers outside: one a topic, so that each gets what it needs."""
    kafka = _kafka()
    kafka["MskCluster"] = {
        "Type": "String",
        "AllowedPattern": "[^/:]+/[^/:]+",
        "Description": "NAME/UUID, as its ARN ends",
    }
    policies = {
        f"Read{stem}": _policy(f"What a consumer of {stem} may do on MSK", topic_rights.reader_statements(topic))
        for stem, topic in TOPICS.items()
    }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "For consumers outside: what whoever reads a topic of Murmuration's may do on MSK",
        "Parameters": kafka,
        "Conditions": OWN_GROUPS,
        "Resources": policies,
        "Outputs": {name: {"Value": {"Ref": name}} for name in policies},
    }


def _kafka() -> dict[str, Any]:
    return {
        "TopicPrefix": {**NAME, "Description": "KAFKA_TOPIC_PREFIX of the services"},
        "GroupPrefix": {**NAME, "Description": "KAFKA_GROUP_PREFIX of the services; TopicPrefix if it is empty"},
        "MskCluster": {
            "Type": "String",
            "Default": "",
            "AllowedPattern": "([^/:]+/[^/:]+)?",
            "Description": "NAME/UUID, as the cluster's ARN ends; empty if Kafka does not ask IAM",
        },
    }


def _cluster() -> dict[str, Any]:
    text = {"Type": "String", "Default": ""}
    return {
        "Namespace": {"Type": "String", "MinLength": 1, "Description": "the services' Kubernetes namespace"},
        "EksCluster": {**text, "Description": "for EKS Pod Identity: the cluster's name, without the account's id"},
        "OidcIssuer": {
            **text,
            "AllowedPattern": "([^/:]+/.+)?",
            "Description": "for IRSA instead: the cluster's OIDC issuer, without https://",
        },
    }


def _policy(description: str, statements: list[Any]) -> dict[str, Any]:
    document = {"Version": "2012-10-17", "Statement": statements}
    return {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"Description": description, "PolicyDocument": document},
    }


def _role(who: str, policies: list[Any]) -> dict[str, Any]:
    cluster = "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/${EksCluster}"
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
        "Condition": {
            "StringEquals": {
                "aws:SourceAccount": {"Ref": "AWS::AccountId"},
                "aws:RequestTag/kubernetes-namespace": {"Ref": "Namespace"},
                "aws:RequestTag/kubernetes-service-account": {"Ref": "Account"},
            },
            "ArnEquals": {"aws:RequestTag/eks-cluster-arn": {"Fn::Sub": cluster}},
        },
    }
    trusted: dict[str, Any] = {"Version": "2012-10-17", "Statement": [statement]}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "Description": f"Murmuration's {who}",
            "AssumeRolePolicyDocument": {"Fn::If": ["Irsa", {"Fn::Sub": TRUSTED}, trusted]},
            "ManagedPolicyArns": policies,
        },
    }


def _association() -> dict[str, Any]:
    return {
        "Type": "AWS::EKS::PodIdentityAssociation",
        "Condition": "PodIdentity",
        "Properties": {
            "ClusterName": {"Ref": "EksCluster"},
            "Namespace": {"Ref": "Namespace"},
            "ServiceAccount": {"Ref": "Account"},
            "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        },
    }


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))


def texts() -> dict[Path, str]:
    """Return each template's file and text."""
    made = {HERE / "tables.yaml": tables(), HERE / "readers.yaml": readers()}
    made |= {HERE / f"access/{who}.yaml": it for who, it in access().items()}
    return {
        path: HEAD + yaml.dump(it, Dumper=_Plain, sort_keys=False, width=WIDTH, default_flow_style=None)
        for path, it in made.items()
    }


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice: CloudFormation reads no anchors of its own. What is short stands on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        if "Fn::Sub" in mapping:  # very many, and shorter without braces and quotes
            return super().represent_mapping(tag, mapping, flow_style=False)
        return super().represent_mapping(tag, mapping, flow_style or len(str(mapping)) < SHORT or None)


def _lines(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write a text of several lines as they stand."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Plain.add_representer(str, _lines)


def main() -> int:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a template is out of date")
    check = parser.parse_args().check
    stale = [path for path, text in texts().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.name} is not what schemas/ says: run `python deploy/aws/templates.py`", file=sys.stderr)
        else:
            path.write_text(texts()[path])
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
