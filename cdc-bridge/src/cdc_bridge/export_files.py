"""The directory of an export: its files in Avro, how far it has come, and at the end its manifest.

Rule: a file is there whole or not at all, and progress names it only then. So whatever was killed is done again from
the last file on, and a directory with a manifest is complete.
"""

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cdc_bridge.export import TABLES, Part, Progress
from contracts.avro_files import written

PROGRESS, MANIFEST = "progress.json", "manifest.json"


class ExportFiles:
    """One directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory

    def is_complete(self) -> bool:
        """Whether there is nothing left to do."""
        return (self._directory / MANIFEST).exists()

    def progress(self) -> Progress | None:
        """Return how far the export has come; None if it has not begun."""
        path = self._directory / PROGRESS
        return Progress.read(json.loads(path.read_text("utf-8"))) if path.exists() else None

    def save(self, progress: Progress) -> None:
        """Keep how far it has come."""
        self._write(PROGRESS, json.dumps(progress.as_json()).encode())

    def part(self, table: str, number: int, records: Sequence[Mapping[str, Any]]) -> Part:
        """Write a file of records."""
        name, content = f"{table}-{number:05}.avro", written(TABLES[table].records, records)
        self._write(name, content)
        return Part(name, len(records), sha256(content).hexdigest())

    def complete(self, progress: Progress) -> None:
        """Write the manifest."""
        self._write(MANIFEST, json.dumps(progress.manifest(), indent=2).encode())

    def _write(self, name: str, content: bytes) -> None:
        path = self._directory / name
        beside = path.with_name(f"{name}.new")
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
