"""The stack's tables as the last release left them, so that it runs beside this one as in a deployment.

A new table is of the new way from the beginning, which a released service neither reads nor writes.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import boto3

from contracts import migrations
from contracts.table_files import TableFile, load
from contracts.tables import MIGRATIONS
from contracts.topic import DATA
from murmuration_testkit.processes import all_ready, control
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

BUILT_S = 120.0  # DynamoDB Local takes half a minute for an index of a table that is in use


def give_past() -> None:
    """Add the indexes that are leaving, forget the migrations that drop them, and restart all services."""
    dynamodb = boto3.client("dynamodb")
    files = load(DATA)
    for migration in migrations.load(DATA, files).values():
        if migration.drops:
            for index in migration.drops:
                _add(dynamodb, files[migration.table], index)
            dynamodb.delete_item(TableName=MIGRATIONS.name, Key={MIGRATIONS.migration: {"S": migration.name}})
    control("restart", *PROCESSES)
    all_ready()


def _add(dynamodb: Any, file: TableFile, name: str) -> None:
    shape = replace(file, indexes={name: file.leaving[name]}).create
    (index,) = shape["GlobalSecondaryIndexes"]
    keyed = {each["AttributeName"] for each in index["KeySchema"]}

    def is_built() -> bool:
        with suppress(dynamodb.exceptions.ResourceInUseException):
            found = dynamodb.describe_table(TableName=file.name)["Table"]
            states = {each["IndexName"]: each["IndexStatus"] for each in found["GlobalSecondaryIndexes"]}
            if name in states:
                return bool(states[name] == "ACTIVE")
            dynamodb.update_table(
                TableName=file.name,
                AttributeDefinitions=[it for it in shape["AttributeDefinitions"] if it["AttributeName"] in keyed],
                GlobalSecondaryIndexUpdates=[{"Create": index}],
            )
        return False

    eventually(is_built, expected=True, within=BUILT_S, every=0.5)
