"""What every release must keep as a whole; each policy says what breaks it, and nothing if nothing does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from murmuration_testkit.charts.manifests import Release, selects
from murmuration_testkit.services import SERVICES

LABELS = ("name", "instance", "version", "component", "part-of", "managed-by")
SPREAD_OVER = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
OF_THE_CLUSTER = re.compile(r"Role|Webhook|CustomResourceDefinition|^Namespace$|PriorityClass")


def labelled(release: Release) -> Iterator[str]:
    """Require the labels that Kubernetes recommends, of pods too, and none that changes in a selector."""
    for each in release.resources:
        labels = each["metadata"].get("labels") or {}
        name = f"{each['kind']}/{each['metadata']['name']}"
        for label in LABELS:
            if f"app.kubernetes.io/{label}" not in labels:
                yield f"{name}: no label app.kubernetes.io/{label}"
        if "helm.sh/chart" not in labels:
            yield f"{name}: no label helm.sh/chart"
    for workload in release.workloads:
        for label in ("name", "instance", "component"):
            if f"app.kubernetes.io/{label}" not in workload.labels:
                yield f"{workload.name}: its pods have no label app.kubernetes.io/{label}"
        selector = (
            workload.resource["spec"].get("selector", {}).get("matchLabels", {}) if workload.keeps_running else {}
        )
        if "app.kubernetes.io/version" in selector:
            yield f"{workload.name}: its selector names a version, so it cannot be upgraded"
        if workload.keeps_running and not selects(workload.resource["spec"].get("selector"), workload.labels):
            yield f"{workload.name}: its selector does not select its pods"


def selects_its_own(release: Release) -> Iterator[str]:
    """Require that a Service, a PodDisruptionBudget and a spread take the pods of one workload, and no other's."""
    selectors = [
        (f"Service/{it['metadata']['name']}", {"matchLabels": it["spec"].get("selector")})
        for it in release.of("Service")
    ]
    selectors += [
        (f"PodDisruptionBudget/{it['metadata']['name']}", it["spec"].get("selector"))
        for it in release.of("PodDisruptionBudget")
    ]
    selectors += [
        (f"{workload.name}: its spread", spread.get("labelSelector"))
        for workload in release.deployments
        for spread in workload.pod.get("topologySpreadConstraints") or ()
    ]
    for name, selector in selectors:
        taken = [workload.name for workload in release.workloads if selects(selector, workload.labels)]
        if len(taken) != 1:
            yield f"{name}: takes {taken or 'nothing'}, not the pods of one workload"


def survives_a_drain(release: Release) -> Iterator[str]:
    """Require a PodDisruptionBudget that lets a node be drained, and a spread over nodes and zones."""
    for workload in release.deployments:
        budgets = [
            it for it in release.of("PodDisruptionBudget") if selects(it["spec"].get("selector"), workload.labels)
        ]
        if len(budgets) != 1:
            yield f"{workload.name}: has {len(budgets)} PodDisruptionBudgets, not 1"
        for budget in budgets:
            if budget["spec"].get("maxUnavailable") in (0, "0%") or budget["spec"].get("minAvailable") == "100%":
                yield f"{workload.name}: its PodDisruptionBudget lets no node be drained"
        spread = {it["topologyKey"]: it for it in workload.pod.get("topologySpreadConstraints") or ()}
        for key in SPREAD_OVER:
            if key not in spread:
                yield f"{workload.name}: is not spread over {key}"
            elif spread[key].get("nodeTaintsPolicy") != "Honor":
                yield f"{workload.name}: its spread over {key} counts a cordoned node as one without pods"
        if spread.get("kubernetes.io/hostname", {}).get("whenUnsatisfiable", "ScheduleAnyway") != "ScheduleAnyway":
            yield f"{workload.name}: rather waits than have two pods on one node"


def rolls_without_a_gap(release: Release) -> Iterator[str]:
    """Require that an upgrade takes no replica away before its successor is ready."""
    for workload in release.deployments:
        strategy = workload.resource["spec"].get("strategy") or {}
        if strategy.get("type") != "RollingUpdate" or strategy.get("rollingUpdate", {}).get("maxUnavailable") != 0:
            yield f"{workload.name}: an upgrade may take a replica away before the next is ready"


def restarts_with_its_config(release: Release) -> Iterator[str]:
    """Require the checksum of a ConfigMap among the annotations of pods that read it, so that a change rolls out."""
    for workload in release.deployments:
        reads = any("configMapRef" in it for box in workload.containers for it in box.get("envFrom") or ())
        volumes = workload.pod.get("volumes") or ()
        reads |= any(
            "configMap" in source for it in volumes for source in (it, *it.get("projected", {}).get("sources", ()))
        )
        annotations = workload.template["metadata"].get("annotations") or {}
        if reads and not any(it.startswith("checksum/") for it in annotations):
            yield f"{workload.name}: reads a ConfigMap, and has no checksum of it"


def ends_in_peace(release: Release) -> Iterator[str]:
    """Require a preStop of whoever serves clients, who may ask for a moment longer, and a grace that outlasts it."""
    for workload in release.deployments:
        grace = workload.pod.get("terminationGracePeriodSeconds")
        if not grace:
            yield f"{workload.name}: has no terminationGracePeriodSeconds of its own"
        served = any(
            selects({"matchLabels": it["spec"].get("selector")}, workload.labels) for it in release.of("Service")
        )
        for container in workload.pod["containers"]:
            serves = served and "http" in {it.get("name") for it in container.get("ports") or ()}
            slept = pre_stop_seconds(container)
            if serves and not slept:
                yield f"{workload.name}: serves clients, and has no preStop that lets them turn elsewhere"
            if grace and slept >= grace:
                yield f"{workload.name}: preStop sleeps {slept} s of the {grace} s of grace"


def pre_stop_seconds(container: Mapping[str, Any]) -> int:
    """Return how long a container's preStop sleeps."""
    hook = ((container.get("lifecycle") or {}).get("preStop")) or {}
    return int((hook.get("sleep") or {}).get("seconds") or 0)


def scales_by_one_hand(release: Release) -> Iterator[str]:
    """Refuse a number of replicas beside an autoscaler: an upgrade would set it back to that."""
    scaled = {it["spec"]["scaleTargetRef"]["name"] for it in release.of("HorizontalPodAutoscaler", "ScaledObject")}
    for workload in release.deployments:
        name, replicas = workload.resource["metadata"]["name"], workload.resource["spec"].get("replicas")
        if name in scaled and replicas is not None:
            yield f"{workload.name}: has an autoscaler, and replicas {replicas}"
        if name not in scaled and replicas is None:
            yield f"{workload.name}: has neither replicas nor an autoscaler"


def asks_for_its_lag_as_it_connects(release: Release) -> Iterator[str]:
    """Require that KEDA asks Kafka by IAM where the worker does: it reads that of the trigger's metadata alone."""
    settings = {it["metadata"]["name"]: it.get("data") or {} for it in release.of("ConfigMap")}
    for scaled in release.of("ScaledObject"):
        of_worker = settings.get(scaled["spec"]["scaleTargetRef"]["name"], {})
        wanted = {
            "sasl": "oauthbearer",
            "saslTokenProvider": "aws_msk_iam",
            "awsRegion": of_worker.get("KAFKA_OAUTH_AWS_REGION"),
        }
        for trigger in scaled["spec"].get("triggers") or ():
            given = {name: trigger["metadata"].get(name) for name in wanted}
            if of_worker.get("KAFKA_OAUTH_PROVIDER") == "msk-iam" and given != wanted:
                yield f"ScaledObject/{scaled['metadata']['name']}: asks Kafka with {given}, not {wanted}"


def is_scraped_under_its_own_labels(release: Release) -> Iterator[str]:
    """Require that a ServiceMonitor lets a process say whose it is; the alarms ask for build_info{service}."""
    for monitor in release.of("ServiceMonitor"):
        if not all(each.get("honorLabels") for each in monitor["spec"]["endpoints"]):
            yield f"ServiceMonitor/{monitor['metadata']['name']}: the Service's name replaces the label service"


def names_whom_it_talks_to(release: Release) -> Iterator[str]:
    """Require a NetworkPolicy of every pod, for both ways, whose rules name peers and ports."""
    policies = release.of("NetworkPolicy")
    for workload in release.workloads:
        ours = [it for it in policies if selects(it["spec"].get("podSelector"), workload.labels)]
        if not ours:
            yield f"{workload.name}: no NetworkPolicy selects its pods"
        for way in ("Ingress", "Egress"):
            if ours and not any(way in (it["spec"].get("policyTypes") or ()) for it in ours):
                yield f"{workload.name}: no NetworkPolicy closes {way}"
    for policy in policies:
        name = f"NetworkPolicy/{policy['metadata']['name']}"
        for way, peers in (("egress", "to"), ("ingress", "from")):
            for rule in policy["spec"].get(way) or ():
                if not rule.get("ports"):
                    yield f"{name}: a rule of {way} is for every port"
                if not rule.get(peers):
                    yield f"{name}: a rule of {way} is for everybody"


def is_reached_inside(release: Release) -> Iterator[str]:
    """Require that Services have an address of the cluster alone, and what is reached from outside has TLS."""
    for service in release.of("Service"):
        if service["spec"].get("type", "ClusterIP") != "ClusterIP":
            yield f"Service/{service['metadata']['name']}: is of type {service['spec']['type']}"
    for ingress in release.of("Ingress"):
        if not ingress["spec"].get("tls"):
            yield f"Ingress/{ingress['metadata']['name']}: has no TLS"


def ends_in_time(release: Release) -> Iterator[str]:
    """Require a deadline and a last attempt of jobs, which drains do not use up; a scheduled one runs alone."""
    for workload in release.workloads:
        if workload.kind == "CronJob" and workload.resource["spec"].get("concurrencyPolicy") != "Forbid":
            yield f"{workload.name}: may run twice at once"
        if workload.kind not in ("Job", "CronJob"):
            continue
        spec = workload.resource["spec"]
        job = spec["jobTemplate"]["spec"] if workload.kind == "CronJob" else spec
        for name in ("backoffLimit", "activeDeadlineSeconds"):
            if name not in job:
                yield f"{workload.name}: has no {name}"
        rules = job.get("podFailurePolicy", {}).get("rules") or ()
        ignored = {it["type"] for rule in rules if rule["action"] == "Ignore" for it in rule["onPodConditions"]}
        if not workload.hooks and "DisruptionTarget" not in ignored:
            yield f"{workload.name}: a drained node counts as a failure"


def compares_its_contracts(release: Release) -> Iterator[str]:
    """Require of each service that its new image compares its contracts with what runs, before an upgrade.

    It names the service's own address, which may be down: else nobody could upgrade it to its fix.
    """
    services = {it.labels.get("app.kubernetes.io/name", ""): it for it in release.deployments}
    for service, workload in ((name, it) for name, it in services.items() if name in SERVICES):
        image = workload.pod["containers"][0]["image"]
        guards = [
            container
            for it in release.workloads
            if "pre-upgrade" in it.hooks
            for container in it.containers
            if f"contracts compare --service={service} " in " ".join([*container["command"], *container["args"]])
        ]
        if [it["image"] for it in guards] != [image]:
            yield f"{service}: before an upgrade the contracts of {image} are not compared with those that run"
        elif f"--own=http://{service}-admin:9090" not in guards[0]["args"]:
            yield f"{service}: could not be upgraded while it is down, for its guard does not know its own address"


def deletes_nothing(release: Release) -> Iterator[str]:
    """Require that uninstalling deletes no data: nothing is stored in the cluster, and nothing runs at the end."""
    for each in release.of("PersistentVolumeClaim", "StatefulSet"):
        yield f"{each['kind']}/{each['metadata']['name']}: data would go with the release"
    for workload in release.workloads:
        if any(hook.endswith(("-delete", "-rollback")) for hook in workload.hooks):
            yield f"{workload.name}: runs at {', '.join(workload.hooks)}"


def stays_in_its_namespace(release: Release) -> Iterator[str]:
    """Refuse what belongs to the whole cluster, or asks for rights in it."""
    for each in release.resources:
        name = f"{each['kind']}/{each['metadata']['name']}"
        if OF_THE_CLUSTER.search(each["kind"]):
            yield f"{name}: a service needs no such thing"


def can_be_tested(release: Release) -> Iterator[str]:
    """Require something that `helm test` runs."""
    if not any("test" in workload.hooks for workload in release.workloads):
        yield "the chart has no test"
