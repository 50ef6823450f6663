"""python -m cdc_bridge export DIRECTORY: writes tables for consumers that begin with nothing. The wiring.

1. Note the end of each topic, unless an earlier run did.
2. Write each table's rows as records, file by file.
3. Write the manifest, which says where to read on.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from cdc_bridge.export import TABLES, Exported, Key, Place, Progress, record_of
from cdc_bridge.export_files import ExportFiles
from cdc_bridge.translate import UntranslatableError

RECORDS_A_FILE = 20_000
_log = logging.getLogger(__name__)


class ExportError(Exception):
    """Why there is no export, and what to do."""


class Reader(Protocol):
    """The rows of tables; dynamo_rows.Rows."""

    def page(self, table: str, attributes: Sequence[str], after: Key | None) -> tuple[Sequence[Key], Key | None]:
        """Return the next rows behind a key, and the last key; None instead of it at the end."""


def export(files: ExportFiles, rows: Reader, places: Callable[[], dict[str, Place]], now: int) -> Iterator[str]:
    """Export, or go on with it; say of each file what it has."""
    if files.is_complete():
        raise ExportError("this export is complete: name another directory for a new one")
    progress = files.progress() or Progress(now, places(), dict.fromkeys(TABLES, Exported()))
    if progress.is_too_old(now):
        raise ExportError(
            "this export began so long ago that topics have lost events since: begin in another directory"
        )
    files.save(progress)
    for table in TABLES:
        while not progress.tables[table].is_done:
            records, after = _read(rows, table, progress.tables[table].after)
            part = files.part(table, len(progress.tables[table].parts) + 1, records) if records else None
            progress = progress.with_part(table, part, after)
            files.save(progress)
            if part:
                yield f"{part.file}: {part.records} records"
    files.complete(progress)
    yield "complete: begin with the files that manifest.json names, then read the topics from its places on"


def _read(rows: Reader, table: str, after: Key | None) -> tuple[list[dict[str, Any]], Key | None]:
    """Return a file's records, and behind which row to go on; a row that breaks its contract is told and left out."""
    records: list[dict[str, Any]] = []
    while True:
        page, after = rows.page(table, TABLES[table].attributes, after)
        for row in page:
            try:
                record = record_of(table, row)
            except UntranslatableError as error:
                _log.error("row not exported: it breaks the contract", extra={"table": table, "reason": error.reason})
                continue
            if record:
                records.append(record)
        if after is None or len(records) >= RECORDS_A_FILE:
            return records, after
