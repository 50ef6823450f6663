"""What timelines tell Prometheus, besides what every edge tells."""

from prometheus_client import Counter, Gauge

from murmuration_runtime.metrics import METRICS

PAGES = Counter("timeline_pages", "Pages, by where they came from.", ["source"], registry=METRICS)
COMPARISONS = Counter(
    "timeline_comparisons",
    "Warm timelines compared with the tables, by outcome.",
    ["outcome"],
    registry=METRICS,
)
CELEBRITIES_AGE = Gauge("celebrities_age_seconds", "Seconds since the set of celebrities was read.", registry=METRICS)
REBUILDS = Gauge("timeline_rebuilds_in_flight", "Timelines that are being built.", registry=METRICS)
