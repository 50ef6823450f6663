"""kubectl and helm, as an operator types them: whichever the PATH has, on whatever cluster the kubeconfig names."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
NAMESPACE = os.environ.get("NAMESPACE", "murmuration")
HELM = os.environ.get("HELM") or "helm"
CHARTS = {
    "tables": "deploy/tables-chart",
    "schemas": "schemas/chart",
    "suggestions": "suggestions/chart",
    "gateway": "deploy/gateway/chart",
    **{
        name: f"{name}/chart"
        for name in (
            *("follow-service", "tweet-service", "timeline-service"),
            *("cdc-bridge", "count-aggregator", "fanout-worker"),
        )
    },
}
SERVICES = tuple(list(CHARTS)[3:])
TIMEOUT = "180s"


class RefusedError(Exception):
    """A command ended with an error: what it said."""


def run(*words: str, given: str | None = None, within_s: float = 600) -> str:
    """Run a command, and return what it says; an error raises what it said."""
    done = subprocess.run(
        words, cwd=REPOSITORY, input=given, capture_output=True, text=True, timeout=within_s, check=False
    )
    if done.returncode:
        raise RefusedError(f"{' '.join(words[:4])} …: {done.stderr.strip()} {done.stdout.strip()}")
    return done.stdout


def kubectl(*words: str, given: str | None = None) -> str:
    """Run kubectl in the namespace."""
    return run("kubectl", "--namespace", NAMESPACE, *words, given=given)


def apply(*objects: dict[str, Any]) -> None:
    """Have these objects as they are given."""
    listed = {"apiVersion": "v1", "kind": "List", "items": [*objects]}
    run("kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-", given=json.dumps(listed))


def found(kind: str, *words: str) -> list[dict[str, Any]]:
    """Return the objects of a kind that are part of Murmuration."""
    answer = kubectl("get", kind, "--selector", "app.kubernetes.io/part-of=murmuration", "--output", "json", *words)
    items: list[dict[str, Any]] = json.loads(answer)["items"]
    return items


@cache
def on_failure() -> str:
    """Return how this version of helm is told to roll back a release that fails."""
    version = run(HELM, "version", "--template", "{{.Version}}")
    return "--atomic" if version.startswith("v3") else "--rollback-on-failure"


def upgrade(name: str, *flags: str, timeout: str = TIMEOUT) -> str:
    """Install or upgrade a release with the values of the local environment, and wait until it is ready."""
    values = f"deploy/environments/local/{name}.yaml"
    given = ["upgrade", "--install", name, CHARTS[name], "--values", values, "--wait", "--timeout", timeout]
    return helm(*given, *flags)


def helm(*words: str) -> str:
    """Run helm in the namespace."""
    return run(HELM, words[0], "--namespace", NAMESPACE, *words[1:])


def revision(name: str) -> dict[str, Any]:
    """Return the last entry of a release's history."""
    last: dict[str, Any] = json.loads(helm("history", name, "--output", "json"))[-1]
    return last


def pods() -> list[dict[str, Any]]:
    """Return the pods that run and are not on their way out."""
    running = found("pods", "--field-selector", "status.phase=Running")
    return [pod for pod in running if "deletionTimestamp" not in pod["metadata"]]


def images(name: str) -> set[str]:
    """Return the tags of the images that a release's pods run."""
    mine = [pod for pod in pods() if pod["metadata"]["labels"].get("app.kubernetes.io/instance") == name]
    specs = [container["image"] for pod in mine for container in pod["spec"]["containers"]]
    return {re.sub(r".*:", "", image) for image in specs}


def build(service: str) -> str:
    """Return what a service's build_info says of its version and commit."""
    path = f"/api/v1/namespaces/{NAMESPACE}/services/{service}-admin:9090/proxy/metrics"
    told = re.search(r"^build_info\{(.*)\}", run("kubectl", "get", "--raw", path), re.MULTILINE)
    labels = dict(re.findall(r'(\w+)="([^"]*)"', told[1])) if told else {}
    return f"{labels.get('version', '?')} of commit {labels.get('commit', '?')[:12]}"


def deployments() -> list[str]:
    """Return the names of all deployments."""
    return [each["metadata"]["name"] for each in found("deployments")]


def settled(*names: str) -> None:
    """Wait until every deployment, or each of these, runs as it should; old pods may be on their way out."""
    for name in names or deployments():
        kubectl("rollout", "status", f"deployment/{name}", f"--timeout={TIMEOUT}")


def restart(*names: str) -> None:
    """Replace the pods of deployments one by one."""
    for name in names:
        kubectl("rollout", "restart", f"deployment/{name}")
    settled(*names)
