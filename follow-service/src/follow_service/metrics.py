"""What this service tells Prometheus, besides what every edge tells."""

from prometheus_client import Counter

from murmuration_runtime.metrics import METRICS

SUGGESTIONS = Counter(
    "suggestion_pages", "Pages of suggestions, by which list they came from.", ["source"], registry=METRICS
)
