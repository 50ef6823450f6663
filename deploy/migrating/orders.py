"""The steps of a migration, in their order: refuses what is not due, does what is, and says what comes next."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from contracts.migrations import BACKFILL, CONTRACT, EXPAND, SWITCH, Migration, switching_stream
from contracts.table_files import TableFile
from migrating.dynamo_record import Pass, Record
from migrating.dynamo_tables import Tables
from migrating.errors import OrderError
from migrating.sweep import Pace, Sweep
from migrating.writes import looked_at

COMMAND = "python deploy/tables.py"
MARK_IS_READ_S = 10.0  # code with two ways reads the migration's row at least every few seconds
say = partial(print, flush=True)


def check_due(migration: Migration, done: Collection[str], step: str, *, seen_to: bool) -> None:
    """Raise OrderError if a step must not be done now; one that was done may be done again."""
    if step not in migration.steps:
        raise OrderError(f"{migration.name} has no step {step}; its steps are {', '.join(migration.steps)}")
    if step in done:
        return
    for earlier in migration.steps[: migration.steps.index(step)]:
        if earlier not in done:
            first = f"run `{_command(migration, earlier)}` first"
            raise OrderError(f"{migration.name}: {step} comes after {earlier}, which is not done: {first}")
    if step in migration.before and not seen_to:
        raise OrderError(
            f"{migration.name}: before {step}, see to this: {migration.before[step].rstrip('.')}. When it is so, run"
            f" `{_command(migration, step)} --yes`"
        )


def next_step(migration: Migration, done: Collection[str]) -> str:
    """Say what comes next."""
    for step in migration.steps:
        if step not in done:
            return f"next: `{_command(migration, step)}`"
    return "all is done"


class Orders:
    """What an operator may order."""

    def __init__(
        self,
        dynamodb: Any,
        prefix: str,
        files: Mapping[str, TableFile],
        migrations: Mapping[str, Migration],
        tables: Tables,
        measure: Callable[[str, Pass, int], object],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._dynamodb = dynamodb
        self._prefix = prefix
        self._files = files
        self._migrations = migrations
        self._tables = tables
        self._record = Record(dynamodb, prefix)
        self._measure = measure
        self._sleep = sleep

    def expand(self) -> None:
        """Bring every table to what its file says, without taking anything away."""
        drops = {name: self._drops(name) for name in self._files}
        made = {
            name
            for name, file in self._files.items()
            if self._tables.expand(file, drops[name], leave_stream=self._stream_waits_for(name) is not None)
        }
        for migration in self._migrations.values():
            # in a table that was just made there is nothing of the old way
            steps = migration.steps if migration.table in made else (EXPAND,)
            if not {*steps} <= self._record.done(migration.name).keys():
                self._record.mark(migration.name, *steps)

    def streams(self) -> dict[str, str]:
        """Return the ARN of each table's stream, of those that have one now."""
        names = [name for name, file in self._files.items() if file.stream and not self._is_streamless(name)]
        tables = {name: self._dynamodb.describe_table(TableName=self._prefix + name)["Table"] for name in names}
        return {name: table["LatestStreamArn"] for name, table in tables.items()}

    def plan(self) -> Iterator[str]:
        """Say what expand and contract would do to the tables, and what nothing does."""
        yield from (line for line, _ in self.tables())
        yield from self.status()

    def tables(self) -> Iterator[tuple[str, bool]]:
        """Say of each table what expand and contract would do to it, and whether it lacks what its file says."""
        for name, file in self._files.items():
            seen = self._tables.look(file, self._drops(name))
            if seen is None:
                yield f"table {name}: expand creates it", True
                continue
            lacks = [f"expand adds the index {index}" for index in seen.missing]
            later = []
            if seen.streamless and not seen.differences and (migration := self._stream_waits_for(name)):
                later = [f"switch {migration} turns its stream on"]
            elif seen.streamless and not seen.differences:
                lacks += ["expand switches its stream on"]
            lacks += [f"DIFFERS, and nothing here changes it: {difference}" for difference in seen.differences]
            does = lacks + later + [f"contract drops the index {index}" for index in seen.surplus]
            yield f"table {name}: {'; '.join(does) or 'as its file says'}{seen.busy and f' ({seen.busy})'}", bool(lacks)

    def status(self) -> Iterator[str]:
        """Say how far each migration has come."""
        for migration in self._migrations.values():
            done = self._record.done(migration.name)
            at = "".join(f", {step} {_date(done[step])}" for step in migration.steps if step in done)
            yield f"migration {migration.name}{at or ', not begun'}; {next_step(migration, done)}"
            if so_far := self._record.under_way(migration.name):
                yield f"  a pass is under way: {_told(so_far)}"

    def backfill(self, name: str, pace: Pace, *, seen_to: bool) -> None:
        """Have every row as the migration wants it, pass after pass, until a whole one has nothing to change."""
        self._do(name, BACKFILL, pace, seen_to=seen_to)

    def switch(self, name: str, *, seen_to: bool) -> None:
        """Have everybody who knows the new way go it."""
        migration = self._named(name)
        check_due(migration, self._record.done(name), SWITCH, seen_to=seen_to)
        if migration.switches_stream:
            self._tables.expand(self._files[migration.table], self._drops(migration.table))
        self._record.mark(name, SWITCH)
        self._say_done(migration, SWITCH)

    def contract(self, name: str, pace: Pace, *, seen_to: bool) -> None:
        """Take away what only the old way used."""
        self._do(name, CONTRACT, pace, seen_to=seen_to)

    def _do(self, name: str, step: str, pace: Pace, *, seen_to: bool) -> None:
        migration = self._named(name)
        check_due(migration, self._record.done(name), step, seen_to=seen_to)
        self._sweep(migration, step, pace)
        if step == CONTRACT:
            self._tables.contract(self._files[migration.table], migration.drops)
        self._record.mark(name, step)
        if step == CONTRACT and migration.change(step):  # whoever reads the mark wrote for older releases until now
            self._sleep(MARK_IS_READ_S)
            self._sweep(migration, step, pace)
        self._say_done(migration, step)

    def _sweep(self, migration: Migration, step: str, pace: Pace) -> None:
        change, file = migration.change(step), self._files[migration.table]
        if change is None:
            return
        table, looked = self._prefix + file.name, looked_at(migration, file)
        estimated = self._dynamodb.describe_table(TableName=table)["Table"]["ItemCount"]  # AWS counts every six hours
        sweep = Sweep(self._dynamodb, table, file.key, looked, change, pace)
        while True:
            so_far = self._record.under_way(migration.name) or Pass()
            while True:
                so_far = sweep.page(so_far)
                self._record.save(migration.name, so_far)
                self._measure(migration.name, so_far, estimated)
                if so_far.cursor is None:
                    break
            say(f"{migration.name}: a pass is done: {_told(so_far)}")
            if so_far.left:
                first = f"`{_command(migration, BACKFILL)}`, then " * (step == CONTRACT and BACKFILL in migration.steps)
                raise OrderError(
                    f"{migration.name}: {so_far.left} rows could not be changed yet, the last one because"
                    f" {sweep.why_left}; run {first}`{_command(migration, step)}` again"
                )
            if not so_far.changed:
                return

    def _named(self, name: str) -> Migration:
        if name not in self._migrations:
            known = ", ".join(self._migrations) or "none"
            raise OrderError(f"there is no migration {name!r} in schemas/migrations; there are: {known}")
        return self._migrations[name]

    def _say_done(self, migration: Migration, step: str) -> None:
        say(f"{migration.name}: {step} is done; {next_step(migration, self._record.done(migration.name))}")

    def _stream_waits_for(self, table: str) -> str | None:
        """Name the migration whose switch is to turn the table's first stream on, if it is still to come."""
        name = switching_stream(table, self._migrations)
        return name if name and SWITCH not in self._record.done(name) else None

    def _is_streamless(self, table: str) -> bool:
        seen = self._tables.look(self._files[table], self._drops(table))
        return seen is None or seen.streamless

    def _drops(self, table: str) -> set[str]:
        """Name the indexes that a table may have although its file has them no longer."""
        return {index for it in self._migrations.values() if it.table == table for index in it.drops}


def _command(migration: Migration, step: str) -> str:
    return f"{COMMAND} {step}" if step == EXPAND else f"{COMMAND} {step} {migration.name}"


def _told(so_far: Pass) -> str:
    return f"{so_far.seen} rows seen, {so_far.changed} changed, {so_far.left} left"


def _date(ms: int) -> str:
    return time.strftime("%FT%TZ", time.gmtime(ms / 1000))
