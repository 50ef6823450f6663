"""What a reconciliation measures: of its last run, for a scraper or a textfile collector."""

from prometheus_client import CollectorRegistry, Gauge

from count_aggregator.reconcile import Summary

OF_THE_LAST_RUN = CollectorRegistry()


def _gauge(name: str, what: str) -> Gauge:
    return Gauge(f"count_aggregator_reconcile_{name}", f"{what}, in the last run.", registry=OF_THE_LAST_RUN)


_CHECKED = _gauge("checked", "Accounts that were compared with their rows")
_DRIFTED = _gauge("drifted", "Alarm: accounts whose counts were wrong")
_REPAIRED = _gauge("repaired", "Accounts whose drift was added")
_NEGATIVE = _gauge("negative", "Alarm: accounts with a count below zero")
_BUSY = _gauge("busy", "Accounts that never stood still, and were not judged")
_BUSY_DRIFTED = _gauge("busy_drifted", "Alarm: of these, accounts that seem to be wrong by over 0.1 %")
_ENDED_AT = _gauge("last_run_timestamp_seconds", "When everybody asked for had been looked at")


GAPS_OWED = Gauge(
    "count_aggregator_reconcile_gaps_owed",
    "Alarm: gaps of the bridge and of Kafka's partitions after which not everybody was recounted yet.",
    registry=OF_THE_LAST_RUN,
)


def set_to(summary: Summary) -> None:
    """Tell of this run."""
    _CHECKED.set(summary.checked)
    _DRIFTED.set(len(summary.drifted))
    _REPAIRED.set(len(summary.repaired))
    _NEGATIVE.set(len(summary.negative))
    _BUSY.set(len(summary.busy))
    _BUSY_DRIFTED.set(len(summary.busy_drifted))
    _ENDED_AT.set_to_current_time()
