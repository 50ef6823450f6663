"""What has to be written to put the rows that a migration wants in one row's place. Pure.

Rule: every write of a row that is there depends on all that was looked at in it, and a row under another key is only
written where none is. So whatever anybody wrote meanwhile stays, and a row that is gone stays gone.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from contracts.migrations import Migration, Row
from contracts.table_files import TableFile
from migrating.errors import MigrationError


def looked_at(migration: Migration, file: TableFile) -> tuple[str, ...]:
    """Name the attributes that the migration looks at besides the key; all of them, unless its file says less."""
    return tuple(name for name in migration.reads or file.attributes if name not in file.key)


def writes(row: Row, wanted: Iterable[Row], key: Sequence[str], looked: Sequence[str]) -> list[dict[str, Any]]:
    """Return the actions of one transaction, without the table's name; none if the row is as it should be."""
    place = {name: row[name] for name in key}
    others, same = [], None
    for each in wanted:
        if {name: each[name] for name in key} == place:
            same = each
        else:
            others.append(each)
    puts = [{"Put": {"Item": dict(each), **_nobody(key[0])}} for each in others]
    if same is None:
        return [*puts, {"Delete": {"Key": place, **_as_seen(row, key, looked, None)}}]
    if same == row and puts:
        raise MigrationError("it puts rows beside one that stays as it is, so it would do so again and again")
    if touched := {name for name in {*row, *same} if row.get(name) != same.get(name)} - {*looked}:
        raise MigrationError(f"it changes {', '.join(sorted(touched))}, and its file does not name that under reads")
    return [*puts, {"Update": {"Key": place, **_as_seen(row, key, looked, same)}}] if same != row else []


def _nobody(name: str) -> dict[str, Any]:
    return {"ConditionExpression": "attribute_not_exists(#k)", "ExpressionAttributeNames": {"#k": name}}


def _as_seen(row: Row, key: Sequence[str], looked: Sequence[str], becomes: Row | None) -> dict[str, Any]:
    """Say that the row must be there and as it was seen, and if it stays, what it becomes."""
    names = {"#k": key[0], **{f"#a{number}": name for number, name in enumerate(looked)}}
    values: dict[str, Any] = {}
    holds, sets, removes = ["attribute_exists(#k)"], [], []
    for number, name in enumerate(looked):
        if name in row:
            holds.append(f"#a{number} = :a{number}")
            values[f":a{number}"] = row[name]
        else:
            holds.append(f"attribute_not_exists(#a{number})")
        if becomes is None or becomes.get(name) == row.get(name):
            continue
        if name in becomes:
            sets.append(f"#a{number} = :b{number}")
            values[f":b{number}"] = becomes[name]
        else:
            removes.append(f"#a{number}")
    update = " ".join(f"{clause} {', '.join(parts)}" for clause, parts in (("SET", sets), ("REMOVE", removes)) if parts)
    return {
        "ConditionExpression": " AND ".join(holds),
        "ExpressionAttributeNames": names,
        **({"ExpressionAttributeValues": values} if values else {}),
        **({"UpdateExpression": update} if update else {}),
    }
