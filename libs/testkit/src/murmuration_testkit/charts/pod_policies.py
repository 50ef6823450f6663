"""What every pod that the charts render must keep; each policy says what breaks it, and nothing if nothing does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from murmuration_testkit.charts.manifests import Release, Workload

PROBES = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
HIGH_UID = 10_000
SIZES = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"), ("limits", "ephemeral-storage"))
RIGHTS: Mapping[str, Any] = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
VOLUMES = {"emptyDir", "configMap", "secret", "projected", "persistentVolumeClaim", "name"}
TAG = re.compile(r"^[^@]+:(?!latest$)[\w][\w.-]{0,127}$")
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
SECRET = re.compile(r"(PASSWORD|SECRET|TOKEN|SECRET_ACCESS_KEY)$")


def probed(release: Release) -> Iterator[str]:
    """Require a startup, a live and a ready probe on the admin port of what keeps running."""
    for workload in release.deployments:
        for container in workload.pod["containers"]:
            admin = {it.get("name"): it["containerPort"] for it in container.get("ports") or ()}.get("admin")
            for probe, path in PROBES.items():
                asked = (container.get(probe) or {}).get("httpGet") or {}
                if asked.get("port") not in ("admin", admin) or admin is None:
                    yield f"{workload.name}: {probe} asks no port named admin"
                if asked.get("path") != path:
                    yield f"{workload.name}: {probe} asks {asked.get('path')}, not {path}"


def sized(release: Release) -> Iterator[str]:
    """Require that every container asks for CPU and memory, and is limited in memory and on disk."""
    for workload, container in _containers(release):
        resources = container.get("resources") or {}
        for kind, what in SIZES:
            if what not in (resources.get(kind) or {}):
                yield f"{workload.name}: {container['name']} has no {kind}.{what}"


def restricted(release: Release) -> Iterator[str]:
    """Require what Pod Security `restricted` does, and besides a root that nobody can write and a high uid."""
    for workload, container in _containers(release):
        context = {**(workload.pod.get("securityContext") or {}), **(container.get("securityContext") or {})}
        for name, right in RIGHTS.items():
            if context.get(name) != right:
                yield f"{workload.name}: {container['name']} has {name} {context.get(name)}, not {right}"
        if not isinstance(context.get("runAsUser"), int) or context["runAsUser"] < HIGH_UID:
            yield f"{workload.name}: {container['name']} runs as uid {context.get('runAsUser')}, not a high one"


def shares_nothing_with_its_node(release: Release) -> Iterator[str]:
    """Refuse namespaces, ports and folders of the node, and a folder in memory or on disk that may grow for ever."""
    for workload in release.workloads:
        if any(workload.pod.get(each) for each in ("hostNetwork", "hostPID", "hostIPC")):
            yield f"{workload.name}: shares a namespace with its node"
        for volume in workload.pod.get("volumes") or ():
            if strange := set(volume) - VOLUMES:
                yield f"{workload.name}: the volume {volume['name']} is of kind {', '.join(sorted(strange))}"
            if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
                yield f"{workload.name}: the volume {volume['name']} has no sizeLimit"
        for container in workload.containers:
            if any("hostPort" in port for port in container.get("ports") or ()):
                yield f"{workload.name}: {container['name']} has a port of its node"


def has_its_own_account(release: Release) -> Iterator[str]:
    """Require an account of the chart's own, without a token; what runs before an upgrade needs none."""
    for account in release.of("ServiceAccount"):
        if account.get("automountServiceAccountToken") is not False:
            yield f"ServiceAccount/{account['metadata']['name']}: its token is mounted"
    for workload in release.workloads:
        runs_as, before = workload.pod.get("serviceAccountName"), any(it.startswith("pre-") for it in workload.hooks)
        if before and runs_as != "default":
            yield f"{workload.name}: runs under {runs_as}, which the upgrade may have yet to make"
        if not before and runs_as in (None, "default"):
            yield f"{workload.name}: runs under the namespace's default account"
        if workload.pod.get("automountServiceAccountToken") is not False:
            yield f"{workload.name}: an account's token is mounted"


def knows_no_neighbours(release: Release) -> Iterator[str]:
    """Refuse the namespace's Services in the environment, where they could be taken for settings."""
    for workload in release.workloads:
        if workload.pod.get("enableServiceLinks") is not False:
            yield f"{workload.name}: enableServiceLinks is not false"


def keeps_secrets_in_files(release: Release) -> Iterator[str]:
    """Require that a secret exists already and is mounted as a file: it is in no values and no environment."""
    for secret in release.of("Secret"):
        yield f"Secret/{secret['metadata']['name']}: the chart makes a secret from values"
    for workload, container in _containers(release):
        for each in container.get("env") or ():
            if "secretKeyRef" in (each.get("valueFrom") or {}):
                yield f"{workload.name}: {each['name']} puts a secret into the environment"
            if SECRET.search(each["name"]):
                yield f"{workload.name}: {each['name']} stands in the environment, not in a file"
        if any("secretRef" in it for it in container.get("envFrom") or ()):
            yield f"{workload.name}: {container['name']} has a whole secret in its environment"
        secrets = {it["name"] for it in workload.pod.get("volumes") or () if {"secret", "projected"} & it.keys()}
        for mount in container.get("volumeMounts") or ():
            if mount["name"] in secrets and not mount.get("readOnly"):
                yield f"{workload.name}: {mount['name']} is mounted to be written"
            if mount["name"] in secrets and "subPath" in mount:
                yield f"{workload.name}: {mount['name']} is mounted by subPath, so it never changes"


def names_its_image(release: Release) -> Iterator[str]:
    """Require a tag that is not latest, or a digest."""
    for workload, container in _containers(release):
        image = container.get("image", "")
        if not DIGEST.search(image) and not TAG.match(image):
            yield f"{workload.name}: the image {image!r} has neither a tag of its own nor a digest"


def _containers(release: Release) -> Iterator[tuple[Workload, Mapping[str, Any]]]:
    for workload in release.workloads:
        for container in workload.containers:
            yield workload, container
