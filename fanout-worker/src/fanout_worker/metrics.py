"""What a scraper finds: everything this process counts about itself."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

METRICS = CollectorRegistry()
ProcessCollector(registry=METRICS)

DONE = Counter("fanout_worker_events_delivered", "Events whose effect is in Redis.", ["event"], registry=METRICS)
INSERTED = Counter("fanout_worker_timeline_inserts", "Tweets inserted into warm timelines.", registry=METRICS)
RETRIES = Counter(
    "fanout_worker_deliveries_retried",
    "Deliveries that a store interrupted, and that were begun again.",
    registry=METRICS,
)
LAG = Histogram(
    "fanout_worker_lag_seconds",
    "From a tweet's own time to its last follower's timeline.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=METRICS,
)
DEAD = Counter("fanout_worker_dead_letters", "Messages that broke the contract.", ["topic"], registry=METRICS)
PROMOTED = Counter("fanout_worker_promotions", "Authors who became celebrities.", registry=METRICS)
BEHIND = Gauge("fanout_worker_events_behind", "Events of this worker's partitions still to come.", registry=METRICS)
