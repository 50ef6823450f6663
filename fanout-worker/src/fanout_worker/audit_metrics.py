"""What an audit measures: of its last run, for a scraper or a textfile collector."""

from prometheus_client import CollectorRegistry, Gauge

from fanout_worker.audit import Summary

OF_THE_LAST_RUN = CollectorRegistry()


def _gauge(name: str, what: str) -> Gauge:
    return Gauge(f"fanout_worker_audit_{name}", f"{what}, in the last run.", registry=OF_THE_LAST_RUN)


_CHECKED = _gauge("checked", "Timelines that were compared with the tables")
_DIFFERED = _gauge("differed", "Alarm: timelines that differed, and were made cold")
_BUSY = _gauge("busy", "Timelines whose follows changed between all looks, and that were not judged")
_ENDED_AT = _gauge("last_run_timestamp_seconds", "When all of them had been looked at")


def set_to(summary: Summary) -> None:
    """Tell of this run."""
    _CHECKED.set(summary.checked)
    _DIFFERED.set(len(summary.differed))
    _BUSY.set(len(summary.busy))
    _ENDED_AT.set_to_current_time()
