"""Spark, as this job wants it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from murmuration_suggestions.settings import Settings

CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # lists of two kilobytes
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.logStageExecutorMetrics": "true",
    "spark.executor.processTreeMetrics.enabled": "true",
    "spark.executor.metrics.pollingInterval": "500ms",
}


@contextmanager
def session(settings: Settings) -> Iterator[tuple[SparkSession, Path]]:
    """Give a session, and the file in which Spark tells what each task costs."""
    with TemporaryDirectory(prefix="spark-events-") as events:
        builder = SparkSession.builder.appName("suggestions")
        for name, value in {
            **CONF,
            "spark.sql.shuffle.partitions": str(settings.spark_partitions),
            "spark.eventLog.dir": f"file://{events}",
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        try:
            yield spark, next(Path(events).iterdir())
        finally:
            spark.stop()
