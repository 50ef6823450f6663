"""A run into Redis, by all executors at once."""

from collections.abc import Iterator
from contextlib import closing

import pyarrow as pa
from pyspark.sql import SparkSession

from murmuration_runtime.redis_connection import RedisConnection
from murmuration_suggested.writer import SuggestedWriter, connect
from murmuration_suggestions.folders import Folder


def write_lists(spark: SparkSession, run: Folder, redis: RedisConnection) -> int:
    """Write everybody's list under the run's version; return how many. A part that failed is written again."""
    version = run.name

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with closing(connect(redis.url, **redis.options())) as nodes:
            writer = SuggestedWriter(nodes)
            for batch in batches:
                lists = zip(batch.column("user_id").to_pylist(), batch.column("list").to_pylist(), strict=True)
                yield pa.record_batch({"written": pa.array([writer.write(version, lists)], pa.int64())})

    lists = spark.read.parquet((run / "suggestions").for_spark).select("user_id", "list")
    total = lists.mapInArrow(write, "written bigint").groupBy().sum("written").first()
    return int(total[0] or 0) if total else 0
