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
CONFIRMED = Counter(
    "timeline_confirmed_pages",
    "Pages whose authors were asked about in the tables, as no warm timeline gave them or edges were not settled.",
    ["outcome"],
    registry=METRICS,
)
EDGES_AGE = Gauge(
    "timeline_edges_age_seconds",
    "For how long it is not known that follows and mutes are settled in Redis; beyond 5 s pages confirm their authors.",
    registry=METRICS,
)
CELEBRITIES_AGE = Gauge("celebrities_age_seconds", "Seconds since the set of celebrities was read.", registry=METRICS)
DEPARTED_AGE = Gauge("departed_age_seconds", "Seconds since it was read who deleted their account.", registry=METRICS)
REBUILDS = Gauge("timeline_rebuilds_in_flight", "Home timelines that are being built.", registry=METRICS)
