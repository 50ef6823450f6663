"""How far each migration has come: its row in the table `migrations`, read strongly."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.migrations import DONE_AT
from contracts.tables import MIGRATIONS

Key = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Pass:
    """A pass over a table's rows: where it goes on (None: behind the last row), and what it has met."""

    cursor: Key | None = None
    seen: int = 0
    changed: int = 0
    left: int = 0


class Record:
    """The rows of all migrations."""

    def __init__(self, dynamodb: Any, prefix: str) -> None:
        self._dynamodb = dynamodb
        self._table = prefix + MIGRATIONS.name

    def done(self, migration: str) -> dict[str, int]:
        """Return the steps that are done, each with the time in ms."""
        row = self._row(migration)
        return {step: int(row[name]["N"]) for step, name in DONE_AT.items() if name in row}

    def under_way(self, migration: str) -> Pass | None:
        """Return the pass that was begun and has not come to its end."""
        row = self._row(migration)
        if MIGRATIONS.cursor not in row:
            return None
        numbers = (int(row[name]["N"]) for name in _NUMBERS)
        return Pass(json.loads(row[MIGRATIONS.cursor]["S"]), *numbers)

    def save(self, migration: str, so_far: Pass) -> None:
        """Remember how far a pass has come; where it goes on, and whether it has changed anything, are one write."""
        values = {":seen": so_far.seen, ":changed": so_far.changed, ":left": so_far.left}
        update = "SET rows_seen = :seen, rows_changed = :changed, rows_left = :left"
        written: dict[str, Any] = {name: {"N": str(number)} for name, number in values.items()}
        if so_far.cursor is None:
            update += " REMOVE #cursor"
        else:
            update = update.replace("SET", "SET #cursor = :cursor,")
            written[":cursor"] = {"S": json.dumps(so_far.cursor)}
        self._update(migration, update, written, {"#cursor": MIGRATIONS.cursor})

    def mark(self, migration: str, *steps: str) -> None:
        """Note that these steps are done; the first time stays."""
        sets = ", ".join(f"{DONE_AT[step]} = if_not_exists({DONE_AT[step]}, :now)" for step in steps)
        self._update(migration, f"SET {sets}", {":now": {"N": str(time.time_ns() // 1_000_000)}}, {})

    def adopted(self, streams: Mapping[str, str]) -> list[str]:
        """Return what `adopt` has done for these streams; nothing if one of them is another now."""
        row = self._row(MIGRATIONS.ADOPT)
        known = json.loads(row[MIGRATIONS.cursor]["S"]) if MIGRATIONS.cursor in row else {}
        return list(known["done"]) if known.get("streams") == streams else []

    def save_adopted(self, streams: Mapping[str, str], done: Sequence[str]) -> None:
        """Remember what `adopt` has done for these streams."""
        cursor = {"S": json.dumps({"streams": streams, "done": done})}
        self._update(MIGRATIONS.ADOPT, "SET #cursor = :cursor", {":cursor": cursor}, {"#cursor": MIGRATIONS.cursor})

    def _row(self, migration: str) -> Any:
        try:
            answer = self._dynamodb.get_item(TableName=self._table, Key=_key(migration), ConsistentRead=True)
        except self._dynamodb.exceptions.ResourceNotFoundException:  # nothing was ever expanded
            return {}
        return answer.get("Item", {})

    def _update(self, migration: str, update: str, values: dict[str, Any], names: dict[str, str]) -> None:
        more = {"ExpressionAttributeNames": names} if names else {}
        self._dynamodb.update_item(
            TableName=self._table,
            Key=_key(migration),
            UpdateExpression=update,
            ExpressionAttributeValues=values,
            **more,
        )


_NUMBERS = (MIGRATIONS.rows_seen, MIGRATIONS.rows_changed, MIGRATIONS.rows_left)


def _key(migration: str) -> dict[str, Any]:
    return {MIGRATIONS.migration: {"S": migration}}
