"""Create the tables of schemas/tables that are missing, and check that the others are what it says. Safe to repeat.

An index that a table lacks is added, one after the other; every other difference is an error, never a change: a key
cannot be altered, and switching a stream on again makes a new stream, with a gap before it.
"""

import argparse
import os
import sys
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError  # noqa: A004

from contracts import ContractError
from contracts.table_files import load
from contracts.topic import DATA

PAUSES_S = (0.02, 1.0)  # between two looks, the first and the longest
say = partial(print, flush=True)
PATIENCE = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10)


class TableError(Exception):
    """A table is not what its file says."""


def main() -> int:
    """Create and check every table; 1 and a line on stderr if one differs or DynamoDB stays away."""
    parser = argparse.ArgumentParser(prog="tables.py", description=__doc__)
    parser.add_argument("--wait", type=float, default=60, metavar="SECONDS", help="how long DynamoDB may be away")
    deadline = time.monotonic() + parser.parse_args().wait
    try:
        dynamodb = boto3.client("dynamodb", config=PATIENCE)
        for table in load(DATA).values():
            name = f"{os.environ.get('TABLE_PREFIX', '')}{table.name}"
            ensure(dynamodb, name, table.create, deadline)
            if table.expires:
                let_expire(dynamodb, name, table.expires)
    except (TableError, ContractError, ClientError, BotoCoreError) as error:
        sys.stderr.write(f"tables.py: {error}\n")
        return 1
    return 0


def ensure(dynamodb: Any, name: str, wanted: Mapping[str, Any], deadline: float) -> None:
    """Return when the table is there, active, and as wanted; wait until the deadline for a store that is away."""
    pause, longest = PAUSES_S
    while True:
        try:
            found = dynamodb.describe_table(TableName=name)["Table"]
        except dynamodb.exceptions.ResourceNotFoundException:
            create(dynamodb, name, wanted)
        except (ConnectionError, HTTPClientError) as error:
            if time.monotonic() > deadline:
                raise
            say(f"waiting for DynamoDB: {error}")
            pause = longest
        else:
            missing = lacking(wanted, found)
            if differences := compare(shape(wanted, without=missing), shape(found)):
                raise TableError(f"table {name} differs from schemas/tables: {'; '.join(differences)}")
            busy = unfinished(found)
            if not busy and not missing:
                say(f"table {name} is there")
                return
            if not busy:
                add_index(dynamodb, name, wanted, missing[0])
            elif time.monotonic() > deadline:
                raise TableError(f"{busy}; DynamoDB goes on building it, run this again later")
        time.sleep(pause)
        pause = min(longest, 2 * pause)


def create(dynamodb: Any, name: str, wanted: Mapping[str, Any]) -> None:
    """Ask for the table; that somebody else has just done so is as good."""
    try:
        dynamodb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **wanted)
    except dynamodb.exceptions.ResourceInUseException:
        return
    say(f"table {name} created")


def lacking(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Name the indexes that the table has not got at all."""
    there = {each["IndexName"] for each in found.get("GlobalSecondaryIndexes", ())}
    return [each["IndexName"] for each in wanted.get("GlobalSecondaryIndexes", ()) if each["IndexName"] not in there]


def unfinished(found: Mapping[str, Any]) -> str:
    """Say what DynamoDB is still at; nothing when table and indexes can be used."""
    states = {f"index {each['IndexName']} of ": each["IndexStatus"] for each in found.get("GlobalSecondaryIndexes", ())}
    states[""] = found["TableStatus"]
    return ", ".join(
        f"{what}table {found['TableName']} is still {state}" for what, state in states.items() if state != "ACTIVE"
    )


def add_index(dynamodb: Any, name: str, wanted: Mapping[str, Any], index: str) -> None:
    """Ask for one index, since DynamoDB takes one at a time; that somebody else is at it is as good."""
    (create,) = (each for each in wanted["GlobalSecondaryIndexes"] if each["IndexName"] == index)
    keys = {each["AttributeName"] for each in create["KeySchema"]}
    try:
        dynamodb.update_table(
            TableName=name,
            AttributeDefinitions=[each for each in wanted["AttributeDefinitions"] if each["AttributeName"] in keys],
            GlobalSecondaryIndexUpdates=[{"Create": create}],
        )
    except dynamodb.exceptions.ResourceInUseException:
        return
    say(f"index {index} of table {name} is being added")


def let_expire(dynamodb: Any, name: str, attribute: str) -> None:
    """Have DynamoDB delete the table's items after the time in this attribute; that somebody else did so is as good."""

    def found() -> Any:
        return dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("AttributeName")

    if found() is None:
        try:
            wanted = {"Enabled": True, "AttributeName": attribute}
            dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
        except ClientError:
            if found() is None:
                raise
    if found() != attribute:
        raise TableError(f"table {name} differs from schemas/tables: items should expire at {attribute}, not {found()}")


def shape(table: Mapping[str, Any], without: Collection[str] = ()) -> dict[str, object]:
    """Reduce what CreateTable is told, or what DescribeTable answers, to what must agree, by name."""
    attributes = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    indexes = {
        each["IndexName"]: each for each in table.get("GlobalSecondaryIndexes", ()) if each["IndexName"] not in without
    }
    return {
        "key": _keys(table, attributes),
        "stream": table.get("StreamSpecification", {}).get("StreamViewType"),
        **{f"index {name} key": _keys(index, attributes) for name, index in indexes.items()},
        **{f"index {name} projection": index["Projection"] for name, index in indexes.items()},
    }


def compare(wanted: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """Say of everything that differs what it should be and what it is."""
    return [
        f"{what} should be {wanted.get(what)}, is {found.get(what)}"
        for what in sorted({*wanted, *found})
        if wanted.get(what) != found.get(what)
    ]


def _keys(keyed: Mapping[str, Any], attributes: Mapping[str, str]) -> str:
    return ", ".join(
        f"{each['AttributeName']} {attributes[each['AttributeName']]} {each['KeyType']}" for each in keyed["KeySchema"]
    )


if __name__ == "__main__":
    sys.exit(main())
