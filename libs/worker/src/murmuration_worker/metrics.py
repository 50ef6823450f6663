"""What every worker measures of itself."""

from prometheus_client import Counter, Gauge

from murmuration_runtime.metrics import METRICS

BEHIND = Gauge("worker_events_behind", "Messages of this worker's partitions that are still to come.", registry=METRICS)
STILL = Gauge(
    "worker_partition_still_seconds",
    "For how long a partition of this worker has had lag and has not got on; 0 if it does.",
    ["topic", "partition"],
    registry=METRICS,
)
SETTING_DIFFERS = Gauge(
    "worker_topic_setting_differs",
    "Alarm: 1 if Kafka has another setting of a topic than its contract's.",
    ["topic", "setting"],
    registry=METRICS,
)
RETRIED = Counter(
    "worker_retried", "Tries of a batch that a store interrupted; it was handled again.", ["topic"], registry=METRICS
)
GAPS = Counter(
    "worker_gaps",
    "How often Kafka had given up events of a partition before they were read.",
    ["topic"],
    registry=METRICS,
)
DEAD_LETTERS = Counter(
    "worker_dead_letters",
    "Messages that broke the contract and were sent to the topic's .dlq.",
    ["topic"],
    registry=METRICS,
)
