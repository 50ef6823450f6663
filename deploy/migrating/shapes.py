"""What a table should be against what it is. Pure.

Rule: what only adds is done by `expand` (a table, an index, a first stream); what takes away is done by `contract`, and
only if a migration names it; everything else is an error, never a change.
"""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

INDEXES = "GlobalSecondaryIndexes"
TOGETHER = dt.timedelta(seconds=1)  # a table and its stream, made by one call


class Look(NamedTuple):
    """What one look at a table found."""

    differences: list[str]  # what nothing here changes
    busy: str  # what DynamoDB is still at
    missing: list[str]  # indexes that expand adds
    surplus: list[str]  # indexes that contract drops
    streamless: bool


def look(wanted: Mapping[str, Any], found: Mapping[str, Any], drops: Collection[str] = ()) -> Look:
    """Compare what CreateTable would be told with what DescribeTable answers; these indexes may be there still."""
    ours, theirs = names(wanted), names(found)
    missing = [name for name in ours if name not in theirs]
    surplus = [name for name in theirs if name not in ours and name in drops]
    streamless = stream(found) is None and stream(wanted) is not None
    differences = compare(shape(wanted, missing, streamless), shape(found, surplus, streamless))
    if streamless and _had_stream(found):
        differences.append(
            f"its stream {found['LatestStreamArn']} was switched off; what is written until it is on again leaves no"
            " trace. Switch it on by hand, then follow docs/operations.md#gaps-of-the-bridge"
        )
    return Look(differences, unfinished(found), missing, surplus, streamless)


def _had_stream(found: Mapping[str, Any]) -> bool:
    """Say whether the table had a stream; one that is older than the table is of another table of this name."""
    if "LatestStreamLabel" not in found:
        return False
    made = dt.datetime.fromisoformat(found["LatestStreamLabel"]).replace(tzinfo=dt.UTC)
    earliest: dt.datetime = found["CreationDateTime"] - TOGETHER
    return made >= earliest


def names(table: Mapping[str, Any]) -> list[str]:
    """Name a table's indexes."""
    return [each["IndexName"] for each in table.get(INDEXES, ())]


def stream(table: Mapping[str, Any]) -> str | None:
    """Return what the table's stream shows; None if there is none, or it is off."""
    specification: Mapping[str, Any] = table.get("StreamSpecification", {})
    return specification.get("StreamViewType") if specification.get("StreamEnabled") else None


def unfinished(found: Mapping[str, Any]) -> str:
    """Say what DynamoDB is still at; nothing when table and indexes can be used."""
    states = {f"index {each['IndexName']} of ": each["IndexStatus"] for each in found.get(INDEXES, ())}
    states[""] = found["TableStatus"]
    return ", ".join(
        f"{what}table {found['TableName']} is still {state}" for what, state in states.items() if state != "ACTIVE"
    )


def index_of(wanted: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what UpdateTable is told to add one index."""
    (create,) = (each for each in wanted[INDEXES] if each["IndexName"] == name)
    keys = {each["AttributeName"] for each in create["KeySchema"]}
    return {
        "AttributeDefinitions": [each for each in wanted["AttributeDefinitions"] if each["AttributeName"] in keys],
        "GlobalSecondaryIndexUpdates": [{"Create": create}],
    }


def shape(table: Mapping[str, Any], without: Sequence[str] = (), streamless: bool = False) -> dict[str, object]:
    """Reduce a table to what must agree, by name."""
    attributes = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    indexes = {each["IndexName"]: each for each in table.get(INDEXES, ()) if each["IndexName"] not in without}
    return {
        "key": _keys(table, attributes),
        "stream": None if streamless else stream(table),
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
