"""What each migration of a table does, from its file in schemas/migrations, and what a row becomes. Pure but for files.

Rule: a migration is a file NAME.yaml, and if rows change a module here of the same name with `backfill`, `contract`, or
both: functions from a row, as DynamoDB has it, to the rows that stand in its place. A row that is as it should be comes
back as it is, so whatever is done twice changes nothing the second time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from contracts.errors import ContractError
from contracts.table_files import TableFile
from contracts.tables import MIGRATIONS

Row = Mapping[str, Mapping[str, Any]]
Change = Callable[[Row], Iterable[Row]]
"""Returns what stands in a row's place: itself, it changed, rows under other keys, or nothing. Raises NotYetError."""

EXPAND, BACKFILL, SWITCH, CONTRACT = "expand", "backfill", "switch", "contract"
DONE_AT = {
    EXPAND: MIGRATIONS.expanded_at,
    BACKFILL: MIGRATIONS.backfilled_at,
    SWITCH: MIGRATIONS.switched_at,
    CONTRACT: MIGRATIONS.contracted_at,
}


class NotYetError(Exception):
    """This row cannot be changed now, and why."""


@dataclass(frozen=True)
class Migration:
    """One migration: its steps in their order, and of some steps what must be so before they are done."""

    name: str
    description: str
    table: str
    steps: tuple[str, ...] = (EXPAND, BACKFILL, SWITCH, CONTRACT)
    before: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] = ()  # all that its functions look at or change; a row changes as a whole unless it says so
    drops: tuple[str, ...] = ()  # indexes that contract drops
    switches_stream: bool = False  # a first stream that expand leaves alone, and that switch turns on

    def change(self, step: str) -> Change | None:
        """Return what this step makes of a row; None if it leaves the rows alone."""
        module = f"{__name__}.{self.name.replace('-', '_')}"
        return getattr(import_module(module), step, None) if find_spec(module) else None


def load(data: Path, tables: Mapping[str, TableFile]) -> Mapping[str, Migration]:
    """Read every migration's file under data, or say which file is wrong and why."""
    found = (_migration(path, tables) for path in sorted((data / "migrations").glob("*.yaml")))
    return MappingProxyType({it.name: it for it in found})


def switching_stream(table: str, known: Mapping[str, Migration]) -> str | None:
    """Return the migration whose switch turns a table's first stream on, if there is one."""
    return next((it.name for it in known.values() if it.table == table and it.switches_stream), None)


def _migration(path: Path, tables: Mapping[str, TableFile]) -> Migration:
    try:
        entry = yaml.safe_load(path.read_text("utf-8"))
        lists: dict[str, Any] = {name: tuple(entry.pop(name)) for name in ("steps", "reads", "drops") if name in entry}
        migration = Migration(path.stem, **lists, **entry)
    except (AttributeError, TypeError, OSError, yaml.YAMLError) as error:
        raise ContractError(f"migrations/{path.name}: {type(error).__name__}: {error}") from error
    for mistake in _mistakes(migration, tables):
        raise ContractError(f"migrations/{path.name}: {mistake}")
    return migration


def _mistakes(migration: Migration, tables: Mapping[str, TableFile]) -> Iterator[str]:
    steps, table = migration.steps, tables.get(migration.table)
    if table is None:
        yield f"there is no table {migration.table}"
        return
    if len({*steps}) < len(steps) or {*steps} - DONE_AT.keys() or steps[0] != EXPAND or CONTRACT in steps[:-1]:
        yield f"steps {', '.join(steps)}: expand is first, contract last, backfill and switch between them, if at all"
    if unknown := {*migration.before} - {*steps}:
        yield f"before names {', '.join(unknown)}, which is none of its steps"
    if unknown := {*migration.reads} - {*table.attributes}:
        yield f"reads {', '.join(sorted(unknown))}, which the table {table.name} does not have"
    if kept := {*migration.drops} & {*table.indexes}:
        yield f"drops {', '.join(kept)}, which tables/{table.name}.yaml still has"
    if unknown := {*migration.drops} - {*table.leaving}:
        yield f"drops {', '.join(unknown)}, which are not among those that are leaving in tables/{table.name}.yaml"
    if migration.switches_stream and not (SWITCH in steps and table.stream):
        yield f"switches the stream of {table.name} on, and has no step switch, or the table's file no stream"
    if (BACKFILL in steps) != (migration.change(BACKFILL) is not None):
        yield "backfill is a step exactly if contracts.migrations has a module of its name with a function backfill"
