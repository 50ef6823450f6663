"""What the bridge tells Prometheus."""

from prometheus_client import Counter, Gauge, Histogram

from murmuration_runtime.metrics import METRICS

RECORDS_READ = Counter("cdc_bridge_records_read", "Stream records read.", ["table"], registry=METRICS)
PUBLISHED = Counter("cdc_bridge_events_published", "Events that Kafka acknowledged.", ["topic"], registry=METRICS)
DEAD_LETTERS = Counter(
    "cdc_bridge_dead_letters", "Records that went to a .dlq topic instead.", ["topic"], registry=METRICS
)
LAG = Histogram(
    "cdc_bridge_lag_seconds",
    "From the row's own time to Kafka's acknowledgement; removals carry no time and are not in it.",
    ["table"],
    buckets=(0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 2, 5, 15, 60, 600, 3600),
    registry=METRICS,
)
SHARDS = Gauge(
    "cdc_bridge_shards", "Shards with a checkpoint, by how far they are read.", ["table", "state"], registry=METRICS
)
HELD = Gauge("cdc_bridge_leases_held", "Shards that this process reads.", registry=METRICS)
STALLED = Gauge(
    "cdc_bridge_shards_stalled",
    "Alarm: shards that this process holds and could not read or publish for 30 s.",
    ["table"],
    registry=METRICS,
)
STOPPED = Gauge(
    "cdc_bridge_publishing_stopped",
    "Alarm: 1 while nothing is published, because a topic is not as its contract says or was made again.",
    registry=METRICS,
)
LEASE_CHANGES = Counter(
    "cdc_bridge_lease_changes",
    "Shards opened, taken, lost, released, failed and finished.",
    ["change"],
    registry=METRICS,
)
GAPS = Counter(
    "cdc_bridge_gaps", "Gaps that this process found, by what was lost.", ["table", "kind"], registry=METRICS
)
GAPS_OPEN = Gauge(
    "cdc_bridge_gaps_open", "Alarm: gaps that no operator has cleared, whoever found them.", ["table"], registry=METRICS
)
SNAPSHOT_OWED = Gauge(
    "cdc_bridge_snapshot_owed_seconds",
    "Alarm: for how long a snapshot of the table is owed, because no event tells of some of its rows; 0 if none is.",
    ["table"],
    registry=METRICS,
)
TIP_AT = Gauge(
    "cdc_bridge_tip_at_ms",
    "Until when an open shard of ours is read to its tip.",
    ["table", "shard_id"],
    registry=METRICS,
)
PUBLISHED_UNTIL = Gauge(
    "cdc_bridge_published_until_ms",
    "Alarm: until when all of a table's shards are published, whoever reads them: the oldest tip_at of them.",
    ["table"],
    registry=METRICS,
)
CHECKPOINT_AT = Gauge(
    "cdc_bridge_checkpoint_at_ms", "When something of the table was last checkpointed.", ["table"], registry=METRICS
)
