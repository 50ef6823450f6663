"""What an operator, or the nightly CronJob, asks for."""

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from murmuration_runtime import dynamo
from murmuration_runtime.errors import StoreAwayError
from murmuration_suggested.writer import LostError, OlderError
from murmuration_suggestions import export_scan
from murmuration_suggestions.blend import blend
from murmuration_suggestions.folders import Folder
from murmuration_suggestions.job import Job
from murmuration_suggestions.kept_runs import KeptRuns, version_of
from murmuration_suggestions.progress import say
from murmuration_suggestions.report import Report, faults
from murmuration_suggestions.settings import Settings
from murmuration_suggestions.spark_session import session
from murmuration_suggestions.spark_tables import ExportError
from murmuration_suggestions.task_metrics import costs

REFUSED = 3


def run(settings: Settings, asked: argparse.Namespace) -> int:
    """Do it; 1 if it could not be done, 3 if the run looks wrong."""
    kept = KeptRuns(Folder(settings.suggestions_folder) / "runs")
    try:
        with session(settings) as (spark, events):
            if asked.command == "load":
                return _load(spark, settings, kept, asked.version, force=asked.force)
            return _run(spark, settings, kept, asked, events)
    except (ExportError, LostError, OlderError, StoreAwayError) as error:
        say(f"{error}")
        return 1


def _run(spark: SparkSession, settings: Settings, kept: KeptRuns, asked: argparse.Namespace, events: Path) -> int:
    now = datetime.now(UTC)
    version = version_of(now)
    read_of = (asked.export or "").split("/")  # an export may be that of an earlier run, which nothing else keeps
    kept.tidy(settings.suggestions_runs_kept, now, read_of)
    job = Job(spark, settings, kept.folder / version)
    export = Folder(asked.export) if asked.export else kept.folder / version / "export"
    if not asked.export:
        with job.step("export"):
            export_scan.export(dynamo.client(read_seconds=10), settings.table_prefix, export, say)
    counted, everybody = job.compute(export, blend())
    before = next(kept.accepted(), None)
    wrong = faults(counted, before.counted if before else None)
    report = Report(version, int(now.timestamp() * 1000), counted, everybody, not wrong or asked.force, wrong)
    kept.keep(report)
    if report.accepted:
        job.load(report)
        kept.tidy(settings.suggestions_runs_kept, now, read_of)
    else:
        job.refuse(report)
    with events.open() as lines:
        steps, peak = costs(lines, job.seconds)
    report = replace(report, steps=steps, peak_memory_bytes=peak)
    kept.keep(report)
    say("\n".join(report.lines()))
    if not report.accepted:
        say("this run was not switched to; if it is right, repeat it with --force")
    return 0 if report.accepted else REFUSED


def _load(spark: SparkSession, settings: Settings, kept: KeptRuns, version: str | None, *, force: bool) -> int:
    report = kept.report(version) if version else next(kept.accepted(), None)
    if report is None:
        say(f"there is no {'run ' + version if version else 'accepted run'} in {kept.folder.uri}")
        return 1
    if not report.accepted and not force:
        say("\n".join(report.lines()))
        say("this run was refused, and is not loaded; if it is right, repeat it with --force")
        return REFUSED
    Job(spark, settings, kept.folder / report.version).load(report, force=force)
    say(f"run {report.version} counts")
    return 0
