"""What happens to the services while people use them: steps, which raise what is not as it should be."""

import json
import os
import socket
import ssl
import subprocess
import sys

import stores
from kube import (
    REPOSITORY,
    SERVICES,
    RefusedError,
    deployments,
    found,
    helm,
    images,
    kubectl,
    on_failure,
    pods,
    restart,
    revision,
    settled,
    upgrade,
)
from telling import NotAsItShouldBeError, expect, say, timed

from murmuration_testkit.waiting import eventually

NEXT_TAG = os.environ.get("NEXT_TAG", "next")
INCOMPATIBLE_TAG = os.environ.get("INCOMPATIBLE_TAG", "incompatible")
GONE_TAG = "was-never-built"


def story() -> None:
    """Tell the demo's story, and run the end-to-end tests of the story, through the gateway over TLS."""
    command = [sys.executable, str(REPOSITORY / "e2e-tests/demo.py")]
    subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    tests = [sys.executable, "-m", "pytest", "-q", "e2e-tests/tests/test_story.py"]
    subprocess.run(tests, cwd=REPOSITORY, check=True)


def helm_tests() -> None:
    """Run `helm test` of every release."""
    failed = []
    for name in ("tables", "schemas", *SERVICES):
        try:
            timed(name, helm, "test", name, "--timeout", "120s", "--logs")
        except RefusedError as error:
            failed.append(f"{name}: {' '.join(str(error).split())[-400:]}")
    expect("tests of releases that failed", failed, [])


def upgrades() -> None:
    """Upgrade each service to the next image, pod by pod, and take it back."""
    for name in SERVICES:
        before = images(name)
        timed(f"{name} → {NEXT_TAG}", _to, name, NEXT_TAG)
        expect(f"{name} runs the next image", images(name), {NEXT_TAG})
        timed(f"{name} back again", _back, name)
        expect(f"{name} runs what it ran before", images(name), before)


def kills() -> None:
    """Kill every pod in turn, without a word; the next one when all run again."""
    for pod in pods():
        name = pod["metadata"]["name"]
        if pod["metadata"].get("ownerReferences", [{}])[0].get("kind") == "ReplicaSet":
            timed(f"kill {name}", _kill, name)


def bad_images() -> None:
    """Upgrade to an image that does not serve, and to one that is not there: both fail, and leave what ran."""
    wrong = ["--set", "image.repository=murmuration/admin", "--set", f"image.tag={_admin_tag()}"]
    for name, flags in (
        ("follow-service", wrong),
        ("cdc-bridge", ["--set", f"image.tag={GONE_TAG}"]),
        ("fanout-worker", ["--set", f"image.tag={GONE_TAG}", "--set", "contracts.enabled=false"]),
    ):
        before, was = images(name), revision(name)["revision"]
        said = _refusal(name, *flags, on_failure(), timeout="60s")
        settled(name)
        kubectl(
            "delete", "job", f"{name}-guard", "--ignore-not-found", "--cascade=foreground"
        )  # helm prints one pod's log
        say(f"      {name}: {said[-300:]}")
        expect(f"{name} runs what it ran before", images(name), before)
        last = revision(name)
        expect(f"{name}'s release is rolled back", (last["status"], last["revision"] > was), ("deployed", True))


def bad_values() -> None:
    """Values that are mistyped, unknown or missing are refused before anything is changed."""
    for name, flag in (
        ("follow-service", "replicas=two"),
        ("cdc-bridge", "replica=2"),
        ("timeline-service", "settings.REDIS_ULR=redis://elsewhere"),
        ("gateway", "service.port=https"),
    ):
        was = revision(name)["revision"]
        said = _refusal(name, "--set", flag)
        say(f"      {name} --set {flag}: {said[-200:]}")
        if "schema" not in said:
            raise NotAsItShouldBeError(f"{name} --set {flag} was refused, but not by the schema: {said}")
        expect(f"{name} has no new revision", revision(name)["revision"], was)


def incompatible() -> None:
    """Have the hook refuse a bridge that drops a field which deployed consumers need: it names field and consumers."""
    before = images("cdc-bridge")
    said = _refusal("cdc-bridge", "--set", f"image.tag={INCOMPATIBLE_TAG}", on_failure())
    hook = kubectl("get", "events", "--output", "json")
    words = said + json.dumps([each for each in json.loads(hook)["items"] if "guard" in each["involvedObject"]["name"]])
    missing = [word for word in ("count-aggregator", "fanout-worker", "following") if word not in words]
    say(f"      cdc-bridge: {said[:900]}")
    expect("the refusal names field and consumers; it lacks", missing, [])
    expect("cdc-bridge runs what it ran before", images("cdc-bridge"), before)


def secrets_change() -> None:
    """Other passwords of Kafka and Redis, taken over by a rolling restart; the old ones let nobody in afterwards."""
    for user in ("cdc-bridge", "count-aggregator"):
        old = stores.another_kafka_password(user)
        timed(f"{user}: another password of Kafka", restart, user)
        expect(f"Kafka lets {user} in with the old password", stores.kafka_lets_in(user, old), wanted=False)
    for user in ("timeline-service", "fanout-worker"):
        old = stores.another_redis_password(user)
        timed(f"{user}: another password of Redis", restart, user)
        stores.redis_command("ACL", "SETUSER", user, f"<{old}")
        expect(f"Redis lets {user} in with the old password", stores.redis_lets_in(user, old), wanted=False)


def certificate_change() -> None:
    """Another certificate of the gateway, by another authority, taken over by a rolling restart."""
    made = ssl.PEM_cert_to_DER_cert(stores.certificate().decode())
    timed("gateway: another certificate", restart, "gateway")
    eventually(lambda: {_shown() for _ in range(6)}, {made}, within=60)


def _shown() -> bytes | None:
    """Return the certificate that the gateway shows to a new connection, by an authority that clients trust."""
    host, port = os.environ["GATEWAY_URL"].removeprefix("https://").rsplit(":", 1)
    context = ssl.create_default_context(cafile=os.environ["GATEWAY_CA_FILE"])
    with (
        socket.create_connection((host, int(port)), 10) as plain,
        context.wrap_socket(plain, server_hostname=stores.GATEWAY) as secured,
    ):
        return secured.getpeercert(binary_form=True)


def _to(name: str, tag: str) -> None:
    upgrade(name, "--set", f"image.tag={tag}", on_failure())
    settled(*_of(name))


def _back(name: str) -> None:
    helm("rollback", name, "--wait", "--timeout", "180s")
    settled(*_of(name))


def _of(name: str) -> list[str]:
    return [each for each in deployments() if each == name or each.startswith(f"{name}-")]


def _kill(pod: str) -> None:
    kubectl("delete", "pod", pod, "--grace-period=0", "--force", "--wait=false")
    settled()


def _refusal(name: str, *flags: str, timeout: str = "120s") -> str:
    try:
        upgrade(name, *flags, timeout=timeout)
    except RefusedError as error:
        return " ".join(str(error).split())
    raise NotAsItShouldBeError(f"helm upgrade {name} {' '.join(flags)} went through, and should have failed")


def _admin_tag() -> str:
    jobs = found("jobs")
    return str(jobs[0]["spec"]["template"]["spec"]["containers"][0]["image"].rpartition(":")[2])
