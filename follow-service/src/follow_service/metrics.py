"""What is told of the cache and of suggestions, besides what every edge and every worker tells."""

from prometheus_client import Counter, Gauge, Histogram

from murmuration_runtime.metrics import METRICS

READS = Counter(
    "graph_cache_reads",
    "Profiles, first pages of lists, suggestions, mutual followers: by what, and whether it was kept (hit, miss); away "
    "is also where it is not known that what is kept is settled.",
    ["of", "outcome"],
    registry=METRICS,
)
LAG = Histogram(
    "graph_keeper_lag_seconds",
    "From a change's own time to its effect on what is kept; a removed row has none.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    registry=METRICS,
)
KEPT_AGE = Gauge(
    "graph_kept_age_seconds",
    "For how long it is not known that what is kept is settled; beyond 5 s the tables serve, unless they are silent. "
    "0 where nothing is kept.",
    registry=METRICS,
)
SUGGESTIONS = Counter(
    "suggestion_pages", "Pages of suggestions, by which list they came from.", ["source"], registry=METRICS
)


def count_reads(of: str, outcome: str, number: int) -> None:
    """Count what was read."""
    READS.labels(of, outcome).inc(number)
