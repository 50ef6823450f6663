"""What every worker measures of itself."""

from prometheus_client import Counter, Gauge

from murmuration_runtime.metrics import METRICS

BEHIND = Gauge("worker_events_behind", "Messages of this worker's partitions that are still to come.", registry=METRICS)
RETRIED = Counter(
    "worker_retried", "Tries of a batch that a store interrupted; it was handled again.", ["topic"], registry=METRICS
)
DEAD_LETTERS = Counter(
    "worker_dead_letters",
    "Messages that broke the contract and were sent to the topic's .dlq.",
    ["topic"],
    registry=METRICS,
)
