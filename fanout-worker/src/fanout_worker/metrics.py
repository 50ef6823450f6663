"""What a scraper finds of the deliveries; what every worker has is in murmuration_worker.metrics."""

from prometheus_client import Counter, Histogram

from murmuration_runtime.metrics import METRICS

DONE = Counter("fanout_worker_events_delivered", "Events whose effect is in Redis.", ["event"], registry=METRICS)
INSERTED = Counter("fanout_worker_timeline_inserts", "Tweets inserted into warm timelines.", registry=METRICS)
LAG = Histogram(
    "fanout_worker_lag_seconds",
    "From a tweet's own time to its last follower's timeline.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=METRICS,
)
DELETION_LAG = Histogram(
    "fanout_worker_deletion_lag_seconds",
    "From a deletion to the tombstone; of a removed row from the stream's time, which AWS rounds down to the second.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=METRICS,
)
PROMOTED = Counter("fanout_worker_promotions", "Authors who became celebrities.", registry=METRICS)
