"""What the bridge tells Prometheus."""

from prometheus_client import Counter, Gauge, Histogram

RECORDS_READ = Counter("cdc_bridge_records_read", "Stream records read", ["table"])
PUBLISHED = Counter("cdc_bridge_events_published", "Events that Kafka acknowledged", ["topic"])
DEAD_LETTERS = Counter("cdc_bridge_dead_letters", "Records that went to a .dlq topic instead", ["topic"])
LAG = Histogram(
    "cdc_bridge_lag_ms",
    "From the row's own time to Kafka's acknowledgement; removals carry no time and are not in it",
    ["table"],
    buckets=(50, 100, 200, 350, 500, 750, 1_000, 2_000, 5_000, 15_000, 60_000, 600_000, 3_600_000),
)
SHARDS = Gauge("cdc_bridge_shards", "Shards with a checkpoint, by how far they are read", ["table", "state"])
HELD = Gauge("cdc_bridge_leases_held", "Shards that this process reads")
LEASE_CHANGES = Counter(
    "cdc_bridge_lease_changes", "Shards opened, taken, lost, revoked, released, failed and finished", ["change"]
)
GAPS = Counter("cdc_bridge_gaps", "Gaps that this process found, by what was lost", ["table", "kind"])
GAPS_OPEN = Gauge("cdc_bridge_gaps_open", "Gaps that no operator has cleared, whoever found them", ["table"])
TIP_AT = Gauge("cdc_bridge_tip_at_ms", "Until when an open shard of ours is read to its tip", ["table", "shard_id"])
CHECKPOINT_AT = Gauge("cdc_bridge_checkpoint_at_ms", "When something of the table was last checkpointed", ["table"])
