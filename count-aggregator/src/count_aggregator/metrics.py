"""What a scraper finds of the counting; what every worker has is in murmuration_worker.metrics."""

from prometheus_client import Counter, Gauge, Histogram

from murmuration_runtime.metrics import METRICS

APPLIED = Counter("count_aggregator_events_applied", "Events whose effect is in the counts.", registry=METRICS)
REPEATS = Counter("count_aggregator_events_repeated", "Events that an earlier write had counted.", registry=METRICS)
WRITES = Counter("count_aggregator_tallies_written", "Transactions that moved counts and watermarks.", registry=METRICS)
ACTIONS = Counter(
    "count_aggregator_actions_written", "Actions in these transactions, at most 100 each.", registry=METRICS
)
LAG = Histogram(
    "count_aggregator_lag_seconds",
    "From the own time of the oldest follow of a tally to its counts; an unfollow carries none.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=METRICS,
)
UNFOLLOW_LAG = Histogram(
    "count_aggregator_unfollow_lag_seconds",
    "From the stream's time of the oldest unfollow of a tally to its counts; AWS rounds that down to the second.",
    buckets=(1, 2, 5, 10, 30, 60, 120, 300),
    registry=METRICS,
)
APPLY = Histogram(
    "count_aggregator_apply_seconds",
    "One transaction of counts and watermarks.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5),
    registry=METRICS,
)
CONFLICTS = Counter(
    "count_aggregator_conflicts",
    "Transactions that a second owner overtook, or that met another about the same users; they were done again.",
    registry=METRICS,
)
GAPS = Counter(
    "count_aggregator_gaps",
    "Alarm: stretches of events that vanished before they came, or came too late to be counted.",
    registry=METRICS,
)
OPEN_GAPS = Gauge("count_aggregator_open_gaps", "Gaps since which not all accounts were recounted.", registry=METRICS)
