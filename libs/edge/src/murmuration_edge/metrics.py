"""The metrics of every edge, besides those of its requests; docs/operations.md says what each is."""

from prometheus_client import Counter, Gauge

from murmuration_runtime.metrics import METRICS

KEYS = Gauge("signing_keys", "Keys of the issuer that tokens are verified with.", registry=METRICS)
KEYS_AGE = Gauge("signing_keys_age_seconds", "Since the issuer's keys were last fetched.", registry=METRICS)
FETCHES = Counter("signing_key_fetches", "Fetches of the issuer's keys.", ["outcome"], registry=METRICS)
REFUSED = Counter("limits_refused", "Calls refused since a caller's budget was spent.", ["budget"], registry=METRICS)
SETTLED = Counter("limits_settled", "Buckets that this process told the others of.", registry=METRICS)
LIMITS_ALONE = Gauge(
    "limits_alone",
    "1 while this process counts its callers alone, or some of them, since their shared buckets are away.",
    registry=METRICS,
)
