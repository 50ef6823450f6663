"""Folders, on this machine's disk or in an object store, wherever Spark's executors see them too."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyarrow.fs import FileSelector, FileSystem, FileType

from murmuration_suggestions.progress import say


@dataclass(frozen=True)
class Folder:
    """One folder, named by a URI: file:///srv/suggestions, s3://bucket/suggestions."""

    uri: str

    def __truediv__(self, name: str) -> "Folder":
        """Return a folder or file in it."""
        return Folder(f"{self.uri.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """Its last part."""
        return self.uri.rstrip("/").rpartition("/")[2]

    @property
    def for_spark(self) -> str:
        """Its name for Hadoop's file systems, which call S3 s3a."""
        return self.uri.replace("s3://", "s3a://", 1)

    @property
    def _place(self) -> tuple[FileSystem, str]:
        place: tuple[FileSystem, str] = FileSystem.from_uri(self.uri)
        return place

    def exists(self) -> bool:
        """Tell whether there is anything."""
        system, path = self._place
        return bool(system.get_file_info(path).type != FileType.NotFound)

    def entries(self) -> list["Folder"]:
        """Return what is in it, by name; nothing if it is not there."""
        system, path = self._place
        found = system.get_file_info(FileSelector(path, allow_not_found=True))
        return [self / each.base_name for each in sorted(found, key=lambda each: str(each.base_name))]

    def open(self) -> Any:
        """Open a file for reading at any place."""
        system, path = self._place
        return system.open_input_file(path)

    def parts(self) -> Iterator["Folder"]:
        """Give the files of a Parquet dataset that Spark wrote, in the order of its partitions."""
        return (each for each in self.entries() if each.name.startswith("part-"))

    def read_json(self) -> Any:
        """Return what a file of JSON says; nothing if it is not there, or holds none."""
        if not self.exists():
            return None
        with self.open() as file:
            try:
                return json.loads(file.read())
            except ValueError:
                say(f"{self.uri} holds no JSON: it counts as absent")
                return None

    def create(self) -> Any:
        """Open a file for writing, in a folder that need not be there yet."""
        system, path = self._place
        system.create_dir(path.rpartition("/")[0], recursive=True)
        return system.open_output_stream(path)

    def write_json(self, told: Any) -> None:
        """Write a file of JSON, so that it is there whole or as it was."""
        fresh = Folder(f"{self.uri}.fresh")
        with fresh.create() as out:
            out.write((json.dumps(told, indent=1) + "\n").encode())
        system, path = self._place
        system.move(f"{path}.fresh", path)

    def delete(self) -> None:
        """Delete all of it, if it is there."""
        system, path = self._place
        if self.exists():
            system.delete_dir(path)
