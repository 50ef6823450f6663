"""Metrics: one registry for everything that this process tells Prometheus."""

import platform
from collections.abc import Mapping
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector

METRICS = CollectorRegistry()
ProcessCollector(registry=METRICS)

STORE_UP = Gauge("store_up", "1 if the store answered this process's last check, else 0.", ["store"], registry=METRICS)
STORE_ERRORS = Counter(
    "store_errors", "Calls that a store did not answer or refused, by reason.", ["store", "reason"], registry=METRICS
)
READY = Gauge("process_ready", "1 while /readyz says that this process is ready, else 0.", registry=METRICS)
_BUILD = Gauge(
    "build_info",
    "Always 1: what is running, and which versions of topics and attributes of tables it reads (<) and writes (>).",
    ["service", "version", "commit", "python", "topics", "tables"],
    registry=METRICS,
)


def announce_build(service: str, commit: str, contracts: Mapping[str, str]) -> None:
    """Say in the metrics which version of the service runs, of which commit, with which `topics` and `tables`."""
    _BUILD.labels(
        service=service, version=version(service), commit=commit, python=platform.python_version(), **contracts
    ).set(1)
