"""Metrics: one registry for everything that this process tells Prometheus."""

import platform
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector

METRICS = CollectorRegistry()
ProcessCollector(registry=METRICS)

STORE_UP = Gauge("store_up", "1 if the store answered this process's last check, else 0.", ["store"], registry=METRICS)
STORE_ERRORS = Counter(
    "store_errors", "Calls that a store did not answer or refused, by reason.", ["store", "reason"], registry=METRICS
)
_BUILD = Gauge("build_info", "Always 1: what is running.", ["service", "version", "commit", "python"], registry=METRICS)


def announce_build(service: str, commit: str) -> None:
    """Say in the metrics which version of the service runs, and from which commit it was built."""
    _BUILD.labels(service, version(service), commit, platform.python_version()).set(1)
