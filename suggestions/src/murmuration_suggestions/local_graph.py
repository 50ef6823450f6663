"""The graph on one machine: put together once from what Spark wrote, then mapped into every process's memory.

Rule: a graph is there when its mark is; whoever finds none builds it, and the others wait. So a machine holds the graph
once, however many processes compute on it, and the kernel gives it back when memory is short.
"""

import fcntl
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from murmuration_suggestions.adjacency import Adjacency
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.graph import Graph
from murmuration_suggestions.old_graphs import delete_older
from murmuration_suggestions.runs import runs

MARK = "whole"
LISTS = ("following", "followers", "unwanted")


class UnsortedError(Exception):
    """What Spark wrote is not in order: the files are not those of one run."""


@dataclass(frozen=True)
class LocalGraph:
    """The folder of one run's graph on this machine."""

    folder: Path

    @classmethod
    def fetched(cls, run: Folder, scratch: Path) -> "LocalGraph":
        """Put it together unless it is there, with whatever the run has so far."""
        graph = cls(scratch / run.name)
        graph.folder.mkdir(parents=True, exist_ok=True)
        with (graph.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (graph.folder / MARK).exists():
                delete_older(graph.folder)
                size = graph._write_people(run / "people")
                for name in LISTS:
                    graph._write_list(name, run / name, size)
                (graph.folder / MARK).touch()
            if not (graph.folder / "ranks.npy").exists() and (run / "ranks" / "_SUCCESS").exists():
                _save(graph.folder / "ranks.npy", np.concatenate([*_columns(run / "ranks", "rank")]))
        return graph

    def graph(self) -> Graph:
        """Map it."""
        ranks = self.folder / "ranks.npy"
        suggestible = self._array("suggestible")
        following, followers, unwanted = (
            Adjacency(self._array(f"{name}.offsets"), self._array(f"{name}.people")) for name in LISTS
        )
        return Graph(
            following,
            followers,
            unwanted,
            suggestible,
            seeds=self._array("seeds"),
            ranks=self._array("ranks") if ranks.exists() else np.zeros(len(suggestible)),
        )

    def ids(self) -> pa.Array:
        """Return everybody's id, by number."""
        with pa.memory_map(str(self.folder / "ids.arrow")) as file:
            return pa.ipc.open_file(file).read_all().column("user_id").chunk(0)

    def delete(self) -> None:
        """Take it away."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_people(self, people: Folder) -> int:
        ids = pa.concat_arrays([each.cast(pa.large_string()) for each in _arrow(people, "user_id")])
        table = pa.table({"user_id": ids})
        with pa.OSFile(str(self.folder / "ids.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as file:
            file.write_table(table)
        _save(self.folder / "suggestible.npy", np.concatenate([*_columns(people, "suggestible")]).astype(bool))
        _save(self.folder / "seeds.npy", np.concatenate([*_columns(people, "seed")]).astype(np.int64).view(np.uint64))
        return len(ids)

    def _write_list(self, name: str, pairs: Folder, size: int) -> None:
        counts = np.zeros(size + 1, np.int64)
        last = -1
        with (self.folder / f"{name}.people.raw").open("wb") as out:
            for file in pairs.parts():
                for batch in pq.ParquetFile(file.open()).iter_batches(columns=["row", "person"]):
                    rows, people = (batch.column(each).to_numpy().astype(np.int64) for each in (0, 1))
                    keys = rows * size + people
                    if len(keys) and not (keys[0] > last and (np.diff(keys) > 0).all()):
                        raise UnsortedError(f"{file.uri} is not in order")
                    last = int(keys[-1]) if len(keys) else last
                    starts, lengths = runs(rows)
                    counts[rows[starts] + 1] += lengths
                    out.write(people.astype(np.int32).tobytes())
        _save(self.folder / f"{name}.offsets.npy", np.cumsum(counts))

    def _array(self, name: str) -> NDArray[Any]:
        raw = self.folder / f"{name}.raw"
        if not raw.exists():
            found: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
            return found
        return np.memmap(raw, np.int32, "r") if raw.stat().st_size else np.zeros(0, np.int32)


def _columns(dataset: Folder, name: str) -> Iterator[NDArray[Any]]:
    return (each.to_numpy(zero_copy_only=False) for each in _arrow(dataset, name))


def _arrow(dataset: Folder, name: str) -> Iterator[pa.Array]:
    for file in dataset.parts():
        for batch in pq.ParquetFile(file.open()).iter_batches(columns=[name]):
            yield batch.column(0)


def _save(path: Path, array: NDArray[Any]) -> None:
    """Write an array so that it is there whole or not at all."""
    fresh = path.with_suffix(".fresh.npy")
    np.save(fresh, array)
    fresh.replace(path)
