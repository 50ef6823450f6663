"""What the cluster's pods are given besides charts: the stores' names, and the secrets and certificates to reach them.

The stores are those of the local stack (deploy/local/secure.py) in the directory that STACK_DIR names, which listen on
STACK_HOST; in the cluster they answer as kafka.stores, registry.stores and so on.
"""

import base64
import json
import os
import secrets
from pathlib import Path
from typing import Any

import redis
from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kube import CHARTS, NAMESPACE, apply, kubectl

from murmuration_runtime import dynamo
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.settings import read
from murmuration_testkit import tokens, topics
from murmuration_testkit.certificates import Authority
from murmuration_testkit.services import SERVICES as LISTED

STORES = "stores"
ITERATIONS = 4096
GATEWAY = os.environ.get("GATEWAY_NAME", "gateway.local")
DOORS = {  # name: the port in the cluster, and the variable of the port where the stack listens
    "kafka": (9092, "KAFKA_PORT"),
    "redis": (6379, "REDIS_PORT"),
    "limits-redis": (6379, "LIMITS_REDIS_PORT"),
    "suggestions-redis": (6379, "SUGGESTIONS_REDIS_PORT"),
    "graph-redis": (6379, "GRAPH_REDIS_PORT"),
    "dynamodb": (8443, "SECURE_PORT"),
    "registry": (8443, "SECURE_PORT"),
    "issuer": (8443, "SECURE_PORT"),
}


def _directory() -> Path:
    return Path(os.environ["STACK_DIR"])


def namespaces() -> None:
    """Have both namespaces; in that of the services nothing may run but what Pod Security calls restricted."""
    level = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    apply(_named("v1", "Namespace", NAMESPACE, labels=level), _named("v1", "Namespace", STORES))


def names() -> None:
    """Give each store its name in the cluster."""
    for name, (port, variable) in DOORS.items():
        ports = [{"name": "door", "port": port, "targetPort": int(os.environ[variable])}]
        there = [{"addresses": [os.environ["STACK_HOST"]]}]
        place = {"addressType": "IPv4", "endpoints": there, "ports": [{"name": "door", "port": ports[0]["targetPort"]}]}
        of = {"kubernetes.io/service-name": name}
        slice_of = _named("discovery.k8s.io/v1", "EndpointSlice", name, labels=of, namespace=STORES)
        apply(_named("v1", "Service", name, namespace=STORES) | {"spec": {"ports": ports}}, slice_of | place)


def keys() -> None:
    """Have each service's secrets, whom to trust, a token for `helm test`, and a new certificate of the gateway."""
    ca = (_directory() / "certificates/ca.pem").read_text()
    apply(_named("v1", "ConfigMap", "stores-ca", namespace=NAMESPACE) | {"data": {"ca.pem": ca}})
    for name in CHARTS:
        secret(name)
    apply(_secret("test-token", {"token": tokens.of_stack().token("helm-test", lifetime_s=tokens.DAY_S)}))
    certificate()


def secret(name: str) -> None:
    """Have the secret of one chart, as the stack's directory knows its passwords."""
    user = name if name in LISTED else "admin"
    password = (_directory() / "secrets" / user).read_text()
    key = LISTED[name].access_key if name in LISTED else "admin"
    apply(
        _secret(
            name,
            {
                **{
                    f"{store}-password": password
                    for store in ("kafka", "registry", "redis", "limits-redis", "suggestions-redis", "graph-redis")
                },
                "aws-credentials": f"[default]\naws_access_key_id = {key}\naws_secret_access_key = local\n",
            },
        )
    )


def certificate() -> bytes:
    """Give the gateway a certificate of a new authority, which its clients trust besides those before; return it."""
    place = _directory() / "gateway-certificates"
    authority = Authority(place)
    pair = authority.certify("gateway", GATEWAY, os.environ.get("GATEWAY_ADDRESS", "localhost"))
    with Path(os.environ["GATEWAY_CA_FILE"]).open("ab") as trusted:
        trusted.write(authority.file.read_bytes())
    made = {"tls.crt": pair.certificate.read_text(), "tls.key": pair.key.read_text()}
    apply(_secret("gateway-tls", made) | {"type": "kubernetes.io/tls"})
    return pair.certificate.read_bytes()


def another_kafka_password(user: str) -> str:
    """Give a user of Kafka another password, in Kafka and in its secret; return the old one, which lets nobody in."""
    password = secrets.token_hex(16)
    kafka = topics.admin()
    one = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    for future in kafka.alter_user_scram_credentials(
        [UserScramCredentialUpsertion(user, one, password.encode())]
    ).values():
        future.result(10)
    value = base64.b64encode(password.encode()).decode()
    _change(user, {"kafka-password": value})
    return (_directory() / "secrets" / user).read_text()


def another_redis_password(user: str) -> str:
    """Let a user of Redis in with another password, too, and have it in its secret; return the old one."""
    old, new = (_directory() / "secrets" / user).read_text(), secrets.token_hex(16)
    redis_command("ACL", "SETUSER", user, f">{new}")
    _change(user, {"redis-password": base64.b64encode(new.encode()).decode()})
    return old


def kafka_lets_in(user: str, password: str) -> bool:
    """Tell whether Kafka takes this password."""
    told = read(KafkaSettings).librdkafka(log_level=0, **{"sasl.username": user, "sasl.password": password})
    try:
        AdminClient(told).list_topics(timeout=5)
    except KafkaException:
        return False
    return True


def redis_lets_in(user: str, password: str) -> bool:
    """Tell whether Redis takes this password."""
    ca = os.environ["REDIS_CA_FILE"]
    client: Any = redis.Redis.from_url(os.environ["REDIS_URL"], username=user, password=password, ssl_ca_certs=ca)
    try:
        client.ping()
    except redis.AuthenticationError:
        return False
    return True


def tables() -> list[str]:
    """Return the charts' tables that there are."""
    listed: list[str] = dynamo.client().list_tables()["TableNames"]
    return [name for name in listed if name.startswith(os.environ["TABLE_PREFIX"])]


def topics_there() -> list[str]:
    """Return the charts' topics that there are."""
    kafka = topics.admin()
    return sorted(name for name in kafka.list_topics(timeout=10).topics if name.startswith("local."))


def redis_command(*words: str) -> None:
    """Tell Redis something, as whoever looks after it."""
    password = Path(os.environ["REDIS_PASSWORD_FILE"]).read_text()
    ca = os.environ["REDIS_CA_FILE"]
    client: Any = redis.Redis.from_url(os.environ["REDIS_URL"], username="admin", password=password, ssl_ca_certs=ca)
    client.execute_command(*words)
    client.close()


def _change(name: str, data: dict[str, str]) -> None:
    kubectl("patch", "secret", name, "--patch", json.dumps({"data": data}))


def _secret(name: str, texts: dict[str, str]) -> dict[str, Any]:
    return _named("v1", "Secret", name, namespace=NAMESPACE) | {"stringData": texts}


def _named(version: str, kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}}
