"""The steps of a run, in their order. Each reads what the one before wrote.

    export   the tables, unless there is an export already
    people   everybody gets a number
    pairs    who follows whom, and whom not to suggest to whom, as pairs of numbers, sorted
    rank     PageRank of everybody
    suggest  everybody's list
    count    how much came out; a run that looks wrong ends here
    load     all lists into Redis under the version of this run, and then the switch

Rule: a run has a folder of its own, and nobody reads of it what is not whole. So one that is killed does no harm.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from murmuration_runtime.errors import RedisAwayError
from murmuration_suggested.writer import LostError, SuggestedWriter, connect
from murmuration_suggestions.blend import Blend
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.local_graph import LocalGraph
from murmuration_suggestions.progress import progress, say
from murmuration_suggestions.report import Counted, Report
from murmuration_suggestions.settings import Settings
from murmuration_suggestions.spark_graph import write_pairs, write_people
from murmuration_suggestions.spark_load import write_lists
from murmuration_suggestions.spark_suggest import plan, write_ranks, write_suggestions
from murmuration_suggestions.spark_tables import Export, ExportError

LOADS = 3  # times that a run is written to Redis, if Redis is away, or some of the run is lost meanwhile
PAUSE_S = 10.0


class Job:
    """What is done with one run."""

    def __init__(self, spark: SparkSession, settings: Settings, run: Folder) -> None:
        self.seconds: dict[str, float] = {}
        self._spark = spark
        self._settings = settings
        self._run = run
        self._scratch = Path(settings.suggestions_scratch)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take the time of one step, and show how far it is."""
        context = self._spark.sparkContext
        context.setJobGroup(name, name)
        began = time.monotonic()
        say(f"{name} begins")
        with progress(context.statusTracker(), name):
            yield
        self.seconds[name] = self.seconds.get(name, 0) + time.monotonic() - began
        say(f"{name}: {self.seconds[name]:.1f} s")

    def compute(self, export: Folder, blend: Blend) -> tuple[Counted, Sequence[str]]:
        """Compute everybody's list; return how much came out, and who may be suggested to anybody."""
        tables = Export(self._spark, export)
        partitions = self._settings.spark_partitions
        with self.step("people"):
            people = write_people(tables, self._run, partitions)
        if not people:
            raise ExportError(f"{export.uri} holds nobody: there is nothing to compute")
        with self.step("pairs"):
            write_pairs(tables, self._run, partitions)
        with self.step("rank"):
            write_ranks(self._spark, self._run, self._scratch)
        with self.step("suggest"):
            planned = plan(self._spark, self._run, self._scratch, blend, self._settings.spark_parts)
            write_suggestions(self._spark, self._run, self._scratch, blend, planned.cuts)
        LocalGraph(self._scratch / self._run.name).delete()
        with self.step("count"):
            return self._counted(people), planned.everybody

    def load(self, report: Report, *, force: bool = False) -> None:
        """Write all lists to Redis and have the run count; begin again if some of it is lost meanwhile."""
        redis = self._settings.redis
        for tries_left in reversed(range(LOADS)):
            try:
                with self.step("load"), closing(connect(redis.url, **redis.options())) as nodes:
                    self._load(SuggestedWriter(nodes), report, force=force)
            except (LostError, RedisAwayError, PythonException) as error:
                if not tries_left:
                    raise
                say(f"load: {str(error).splitlines()[-1]}; once more in {PAUSE_S:.0f} s")
                time.sleep(PAUSE_S)
            else:
                return

    def refuse(self, report: Report) -> None:
        """Let it be known that a run looks wrong."""
        redis = self._settings.redis
        with closing(connect(redis.url, **redis.options())) as nodes:
            SuggestedWriter(nodes).refuse(report.run())

    def _load(self, writer: SuggestedWriter, report: Report, *, force: bool) -> None:
        begun = writer.begin()
        writer.forget_others(begun, report.version)
        written = write_lists(self._spark, self._run, self._settings.redis)
        if written != report.counted.lists:
            raise LostError(f"{written} lists were written, and run {report.version} has {report.counted.lists}")
        writer.switch(report.run(), begun, force=force)

    def _counted(self, people: int) -> Counted:
        lists = self._spark.read.parquet((self._run / "suggestions").for_spark)
        edges = self._spark.read.parquet((self._run / "following").for_spark).count()
        row = lists.agg(
            f.count("*"),
            f.coalesce(f.sum("suggestions"), f.lit(0)),
            f.coalesce(f.bit_xor(f.xxhash64("user_id", "list")), f.lit(0)),
        ).first()
        assert row is not None  # noqa: S101 - an aggregate of everything is one row
        return Counted(people, edges, int(row[0]), int(row[1]), f"{int(row[2]) & (1 << 64) - 1:016x}")
