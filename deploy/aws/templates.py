"""Write the CloudFormation templates beside this file anew, from schemas/tables, schemas/migrations and schemas/topics.

tables.yaml has the tables, access.yaml a role for each service and each job, with a policy of no more than it needs,
readers.yaml a policy for each topic, for consumers outside.
With --check nothing is written; the exit code is 1 if a template is not what its files say.
"""

import argparse
import sys
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
    '"${OidcIssuer}:sub": "system:serviceaccount:${Namespace}:${%s}"}}}]}'
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
    shape = file.create
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


def access() -> dict[str, Any]:
    """Return the template of roles and policies."""
    files = load(DATA)
    known = migrations.load(DATA, files)
    who = sorted({service for file in files.values() for service in file.access} | {topic_rights.TOPICS_JOB})
    resources: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    accounts: dict[str, Any] = {}
    for service in who:
        name, said = _camel(service), JOBS.get(service, service)
        account = f"{name}Account"
        accounts[account] = {**NAME, "Default": said, "Description": f"ServiceAccount of {said}"}
        policies: list[Any] = []
        if allowed := table_rights.statements(service, files, known):
            policies.append({"Ref": f"{name}Tables"})
            resources[f"{name}Tables"] = _policy(f"What {said} may do in DynamoDB", allowed)
        if allowed := topic_rights.statements(service, TOPICS):
            policies.append({"Fn::If": ["MskIam", {"Ref": f"{name}Topics"}, {"Ref": "AWS::NoValue"}]})
            resources[f"{name}Topics"] = {"Condition": "MskIam", **_policy(f"What {said} may do on MSK", allowed)}
        resources[f"{name}Role"] = _role(said, account, policies)
        resources[f"{name}Identity"] = _association(account, f"{name}Role")
        outputs[f"{name}Role"] = {"Value": {"Fn::GetAtt": [f"{name}Role", "Arn"]}}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Murmuration's roles: what each service may do in DynamoDB, and on MSK if it asks IAM",
        "Parameters": _parameters() | accounts,
        "Conditions": {
            "Irsa": {"Fn::Not": [{"Fn::Equals": [{"Ref": "OidcIssuer"}, ""]}]},
            "PodIdentity": {"Fn::Not": [{"Fn::Equals": [{"Ref": "EksCluster"}, ""]}]},
            "MskIam": {"Fn::Not": [{"Fn::Equals": [{"Ref": "MskCluster"}, ""]}]},
            **OWN_GROUPS,
        },
        "Resources": resources,
        "Outputs": outputs,
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


def _parameters() -> dict[str, Any]:
    text = {"Type": "String", "Default": ""}
    return {
        "TablePrefix": PREFIX,
        **_kafka(),
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


def _role(said: str, account: str, policies: list[Any]) -> dict[str, Any]:
    cluster = "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/${EksCluster}"
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
        "Condition": {
            "StringEquals": {
                "aws:SourceAccount": {"Ref": "AWS::AccountId"},
                "aws:RequestTag/kubernetes-namespace": {"Ref": "Namespace"},
                "aws:RequestTag/kubernetes-service-account": {"Ref": account},
            },
            "ArnEquals": {"aws:RequestTag/eks-cluster-arn": {"Fn::Sub": cluster}},
        },
    }
    trusted: dict[str, Any] = {"Version": "2012-10-17", "Statement": [statement]}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "Description": f"Murmuration's {said}",
            "AssumeRolePolicyDocument": {"Fn::If": ["Irsa", {"Fn::Sub": TRUSTED % account}, trusted]},
            "ManagedPolicyArns": policies,
        },
    }


def _association(account: str, role: str) -> dict[str, Any]:
    return {
        "Type": "AWS::EKS::PodIdentityAssociation",
        "Condition": "PodIdentity",
        "Properties": {
            "ClusterName": {"Ref": "EksCluster"},
            "Namespace": {"Ref": "Namespace"},
            "ServiceAccount": {"Ref": account},
            "RoleArn": {"Fn::GetAtt": [role, "Arn"]},
        },
    }


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))


def texts() -> dict[Path, str]:
    """Return each template's file and text."""
    made = {HERE / "tables.yaml": tables(), HERE / "access.yaml": access(), HERE / "readers.yaml": readers()}
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
