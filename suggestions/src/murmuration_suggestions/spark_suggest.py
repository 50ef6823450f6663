"""The computation, spread over executors: each takes ranges of people, and computes them on its machine's graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from murmuration_suggested.layout import Suggestion, to_text
from murmuration_suggestions.blend import Blend
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.global_rank import page_rank
from murmuration_suggestions.local_graph import LocalGraph
from murmuration_suggestions.runs import runs
from murmuration_suggestions.suggest import Chosen, suggest, work

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Plan:
    """Where the ranges of people begin and end, and who may be suggested to anybody."""

    cuts: Sequence[int]
    everybody: Sequence[str]


def write_ranks(spark: SparkSession, run: Folder, scratch: Path) -> None:
    """Write the PageRank of everybody, computed by one executor."""

    def ranks(_: Batches) -> Batches:
        graph = LocalGraph.fetched(run, scratch).graph()
        yield pa.record_batch({"rank": page_rank(graph.following, graph.followers)})

    spark.range(1, numPartitions=1).mapInArrow(ranks, "rank double").write.parquet((run / "ranks").for_spark)


def plan(spark: SparkSession, run: Folder, scratch: Path, blend: Blend, parts: int) -> Plan:
    """Cut everybody into about so many ranges of as much work, and find who may be suggested to anybody."""

    def planned(_: Batches) -> Batches:
        local = LocalGraph.fetched(run, scratch)
        graph = local.graph()
        total = np.cumsum(work(graph, 0, len(graph), blend.cap))
        ends = np.searchsorted(total, np.arange(1, parts) * (total[-1] / parts))
        best = np.argsort(-np.where(graph.suggestible, graph.ranks, -1), kind="stable")[: graph.suggestible.sum()]
        told = {
            "cuts": [np.unique(np.concatenate(([0], ends, [len(graph)]))).tolist()],
            "everybody": [local.ids().take(pa.array(best[: 2 * blend.most])).to_pylist()],
        }
        yield pa.record_batch(told, pa.schema({"cuts": pa.list_(pa.int64()), "everybody": pa.list_(pa.string())}))

    schema = "cuts array<bigint>, everybody array<string>"
    (row,) = spark.range(1, numPartitions=1).mapInArrow(planned, schema).collect()
    return Plan(row["cuts"], row["everybody"])


def write_suggestions(spark: SparkSession, run: Folder, scratch: Path, blend: Blend, cuts: Sequence[int]) -> None:
    """Write everybody's list."""
    schema = "user_id string, suggestions int, list string"
    lists = partial(_lists, run, scratch, blend, cuts)
    parts = len(cuts) - 1
    spark.range(0, parts, 1, parts).mapInArrow(lists, schema).write.parquet((run / "suggestions").for_spark)


def _lists(run: Folder, scratch: Path, blend: Blend, cuts: Sequence[int], batches: Batches) -> Batches:
    local = LocalGraph.fetched(run, scratch)
    graph, ids = local.graph(), local.ids()
    for batch in batches:
        for part in batch.column(0).to_pylist():
            for chosen in suggest(graph, cuts[part], cuts[part + 1], blend):
                yield _as_texts(chosen, ids)


def _as_texts(chosen: Chosen, ids: pa.Array) -> pa.RecordBatch:
    """Write lists of suggestions as texts, with ids for numbers."""
    people, because = (ids.take(pa.array(each)).to_pylist() for each in (chosen.people, chosen.because))
    ends = np.cumsum(np.bincount(chosen.because_of, minlength=len(people))).tolist()
    whole = [
        Suggestion(person, count, tuple(because[begin:end]))
        for person, count, begin, end in zip(people, chosen.counts.tolist(), [0, *ends], ends, strict=False)
    ]
    starts, lengths = runs(chosen.owners)
    lists = [to_text(whole[start : start + length]) for start, length in zip(starts, lengths, strict=True)]
    owners = ids.take(pa.array(chosen.owners[starts])).cast(pa.string())
    return pa.record_batch({"user_id": owners, "suggestions": pa.array(lengths, pa.int32()), "list": pa.array(lists)})
