"""Values that a chart's values.schema.json must refuse, whichever chart it is."""

from collections.abc import Iterator, Mapping
from typing import Any

from murmuration_testkit.charts.files import Chart

Values = Mapping[str, Any]
OF_EVERY_CHART: tuple[Values, ...] = (
    {"replica": 3},
    {"replicas": "three"},
    {"replicas": -1},
    {"image": "murmuration/follow-service"},
    {"image": {"tag": "latest"}},
    {"image": {"digest": "sha256:abc"}},
    {"image": {"pullPolicy": "Sometimes"}},
    {"image": {"repositry": "murmuration/follow-service"}},
    {"resources": None},
    {"resources": {"limits": {"memory": "lots"}}},
    {"resources": {"limits": {"memory": None}}},
    {"resources": {"requests": {"gpu": 1}}},
    {"settings": {"NO_SUCH_SETTING": "x"}},
    {"settings": ["TABLE_PREFIX"]},
    {"secrets": {"NO_SUCH_SECRET": {"existingSecret": "s", "key": "k"}}},
    {"files": {"KAFKA_SSL_CA_FILE": "/etc/ca.pem"}},
    {"serviceAccount": {"create": "yes"}},
    {"serviceAccount": {"automount": True}},
    {"topologySpread": {"whenUnsatisfiable": "Maybe"}},
    {"networkPolicy": {"egress": {"dns": None}}},
    {"networkPolicy": {"egress": {"anywhere": {"to": [], "ports": [443]}}}},
    {"networkPolicy": {"egress": {"anywhere": {"to": [{"ipBlock": {"cidr": "10.0.0.1"}}], "ports": [443]}}}},
    {"networkPolicy": {"egress": {"anywhere": {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": ["https"]}}}},
    {"terminationGracePeriodSeconds": 0},
    {"probes": {"liveness": {"periodSecond": 5}}},
    {"probes": {"liveness": None}},
    {"pdb": {"maxUnavailable": 0}},
    {"keda": {"enabled": "true"}},
    {"autoscaling": {"minReplicas": 0}},
    {"ingress": {"enabled": True, "hosts": [], "tls": []}},
    {"ingress": {"enabled": True, "hosts": ["api.example"], "tls": []}},
    {"httpRoute": {"enabled": True, "hostnames": []}},
    {"service": {"type": "ExternalName"}},
    {"service": {"port": 70000}},
    {"tolerations": [{"effect": "Never"}]},
    {"podLabels": {"a label": "x"}},
    {"tmp": {"sizeLimit": 5}},
)
OF_A_SETTING: Mapping[str, tuple[Values, ...]] = {
    "LOG_LEVEL": ({"settings": {"LOG_LEVEL": "LOUD"}},),
    "FOLLOWING_CAP": ({"settings": {"FOLLOWING_CAP": "many"}}, {"settings": {"FOLLOWING_CAP": -1}}),
    "GAP_POLICY": ({"settings": {"GAP_POLICY": "ignore"}},),
    "STALL_SECONDS": ({"settings": {"STALL_SECONDS": 0}},),
    "JWT_JWKS_URL": ({"settings": {"JWT_JWKS_URL": "issuer"}},),
    "JWT_ISSUER": ({"settings": {"JWT_ISSUER": " "}}, {"settings": {"JWT_ISSUER": None}}),
    "JWT_TYP": ({"settings": {"JWT_TYP": "JWT"}},),
    "JWT_LEEWAY_SECONDS": ({"settings": {"JWT_LEEWAY_SECONDS": -1}},),
    "REDIS_URL": (
        {"settings": {"REDIS_URL": "redis-host:6379"}},
        {"settings": {"REDIS_URL": None}},
        {"settings": {"REDIS_URL": "rediss://user:secret@host:6379/0"}},
        {"settings": {"REDIS_URL": "rediss://host:6379/0?password=secret"}},
    ),
    "SCHEMA_REGISTRY_URL": ({"settings": {"SCHEMA_REGISTRY_URL": "https://user:secret@host"}},),
    "KAFKA_SECURITY_PROTOCOL": ({"settings": {"KAFKA_SECURITY_PROTOCOL": "TLS"}},),
    "KAFKA_BOOTSTRAP_SERVERS": ({"settings": {"KAFKA_BOOTSTRAP_SERVERS": None}},),
    "HOSTS": ({"settings": {"HOSTS": "https://api.example"}}, {"settings": {"HOSTS": ["api.example"]}}),
    "CORS_ORIGINS": ({"settings": {"CORS_ORIGINS": "*"}}, {"settings": {"CORS_ORIGINS": "app.example"}}),
    "TRUSTED_PROXIES": ({"settings": {"TRUSTED_PROXIES": "everybody"}},),
    "ADDRESS_RATE": ({"settings": {"ADDRESS_RATE": 0}}, {"settings": {"ADDRESS_RATE": "100r/s"}}),
    "HTTPS_ONLY": ({"settings": {"HTTPS_ONLY": "yes"}},),
    "HSTS_SECONDS": ({"settings": {"HSTS_SECONDS": -1}},),
}
OF_A_SECRET: Mapping[str, tuple[Values, ...]] = {
    "KAFKA_SASL_PASSWORD": (
        {"settings": {"KAFKA_SASL_PASSWORD": "secret"}},
        {"secrets": {"KAFKA_SASL_PASSWORD": "secret"}},
        {"secrets": {"KAFKA_SASL_PASSWORD": {"existingSecret": "kafka"}}},
        {"secrets": {"KAFKA_SASL_PASSWORD": {"existingSecret": "kafka", "key": "password", "value": "secret"}}},
    ),
    "LIMITS_REDIS_URL": (
        {"settings": {"LIMITS_REDIS_URL": "redis-host:6379"}},
        {"settings": {"LIMITS_REDIS_URL": "rediss://user:secret@host:6379/0"}},
    ),
    "LIMITS_REDIS_PASSWORD": ({"settings": {"LIMITS_REDIS_PASSWORD": "secret"}},),
    "LIMIT_CALLS_A_MINUTE": ({"settings": {"LIMIT_CALLS_A_MINUTE": 0}},),
    "LIMIT_FOLLOWS_BURST": ({"settings": {"LIMIT_FOLLOWS_BURST": "many"}},),
    "LIMIT_TWEETS_A_DAY": ({"settings": {"LIMIT_TWEETS_A_DAY": -1}},),
    "REDIS_PASSWORD": ({"settings": {"REDIS_PASSWORD": "secret"}},),
}


def bad_values(chart: Chart) -> Iterator[Values]:
    """Give each of them that says something about a value which this chart has, and those that no chart knows."""
    settings, secrets = (
        chart.schema["properties"].get(key, {}).get("properties", {}) for key in ("settings", "secrets")
    )
    for values in OF_EVERY_CHART:
        (key,) = values
        if key in chart.values or key == "replica":
            yield values
    for name, those in OF_A_SETTING.items():
        yield from those if name in settings else ()
    for name, those in OF_A_SECRET.items():
        yield from those if name in secrets else ()
