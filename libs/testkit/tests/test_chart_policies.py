"""Each policy refuses what it is there to refuse, and nothing that a good chart renders."""

import copy
from pathlib import Path

import pytest
import yaml

from murmuration_testkit.charts import pod_policies as pods
from murmuration_testkit.charts import release_policies as releases
from murmuration_testkit.charts.manifests import Release
from murmuration_testkit.charts.policies import POLICIES, faults

GOOD = Path(__file__).with_name("a_good_release.yaml")
TEMPLATE = "Deployment.spec.template"
POD = f"{TEMPLATE}.spec"
BOX = f"{POD}.containers.0"


class GONE:
    """A field that is taken away; as a class it has a name, which tests with it have in theirs."""


LAG_BY_PASSWORD = {"scaleTargetRef": {"name": "s"}, "triggers": [{"metadata": {"tls": "enable"}}]}
BREAKS = [
    (releases.labelled, "Service.metadata.labels.app.kubernetes~io/name", GONE),
    (releases.labelled, "Service.metadata.labels.helm~sh/chart", GONE),
    (releases.labelled, f"{TEMPLATE}.metadata.labels.app.kubernetes~io/instance", GONE),
    (releases.labelled, "Deployment.spec.selector.matchLabels.app.kubernetes~io/version", "1"),
    (releases.selects_its_own, "Service.spec.selector.app.kubernetes~io/component", GONE),
    (releases.selects_its_own, "PodDisruptionBudget.spec.selector.matchLabels.app.kubernetes~io/name", "other"),
    (pods.probed, f"{BOX}.startupProbe", GONE),
    (pods.probed, f"{BOX}.livenessProbe.httpGet.port", "http"),
    (pods.probed, f"{BOX}.readinessProbe.httpGet.path", "/healthz"),
    (pods.sized, f"{BOX}.resources.requests.cpu", GONE),
    (pods.sized, f"{BOX}.resources.limits.ephemeral-storage", GONE),
    (pods.sized, "CronJob.spec.jobTemplate.spec.template.spec.containers.0.resources.limits", GONE),
    (pods.restricted, f"{BOX}.securityContext.readOnlyRootFilesystem", False),
    (pods.restricted, f"{BOX}.securityContext.capabilities", {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
    (pods.restricted, f"{BOX}.securityContext.runAsUser", 1000),
    (pods.restricted, "Pod.spec.containers.0.securityContext.seccompProfile", GONE),
    (pods.shares_nothing_with_its_node, f"{POD}.hostNetwork", True),
    (pods.shares_nothing_with_its_node, f"{POD}.volumes.0", {"name": "tmp", "hostPath": {"path": "/var"}}),
    (pods.shares_nothing_with_its_node, f"{POD}.volumes.0.emptyDir", {}),
    (pods.shares_nothing_with_its_node, f"{BOX}.ports.0.hostPort", 80),
    (pods.has_its_own_account, f"{POD}.serviceAccountName", GONE),
    (pods.has_its_own_account, "Pod.spec.automountServiceAccountToken", GONE),
    (pods.has_its_own_account, "Job.spec.template.spec.serviceAccountName", "s"),
    (pods.has_its_own_account, "ServiceAccount.automountServiceAccountToken", GONE),
    (pods.knows_no_neighbours, f"{POD}.enableServiceLinks", GONE),
    (pods.keeps_secrets_in_files, f"{BOX}.env.0.name", "KAFKA_SASL_PASSWORD"),
    (pods.keeps_secrets_in_files, f"{BOX}.env.0.valueFrom", {"secretKeyRef": {"name": "kafka", "key": "password"}}),
    (pods.keeps_secrets_in_files, f"{BOX}.envFrom.0", {"secretRef": {"name": "kafka"}}),
    (pods.keeps_secrets_in_files, f"{BOX}.volumeMounts.0.readOnly", False),
    (pods.keeps_secrets_in_files, f"{BOX}.volumeMounts.0.subPath", "password"),
    (pods.keeps_secrets_in_files, "Ingress.kind", "Secret"),
    (pods.names_its_image, f"{BOX}.image", "m/s"),
    (pods.names_its_image, f"{BOX}.image", "m/s:latest"),
    (pods.names_its_image, f"{BOX}.image", "m/s@sha256:abc"),
    (releases.survives_a_drain, "PodDisruptionBudget.spec.maxUnavailable", 0),
    (releases.survives_a_drain, "PodDisruptionBudget.kind", "Other"),
    (releases.survives_a_drain, f"{POD}.topologySpreadConstraints.1", GONE),
    (releases.survives_a_drain, f"{POD}.topologySpreadConstraints.1.nodeTaintsPolicy", GONE),
    (releases.survives_a_drain, f"{POD}.topologySpreadConstraints.0.whenUnsatisfiable", "DoNotSchedule"),
    (releases.rolls_without_a_gap, "Deployment.spec.strategy.rollingUpdate.maxUnavailable", 1),
    (releases.rolls_without_a_gap, "Deployment.spec.strategy", {"type": "Recreate"}),
    (releases.restarts_with_its_config, f"{TEMPLATE}.metadata.annotations", GONE),
    (releases.ends_in_peace, f"{POD}.terminationGracePeriodSeconds", GONE),
    (releases.ends_in_peace, f"{BOX}.lifecycle", GONE),
    (releases.ends_in_peace, f"{BOX}.lifecycle.preStop.sleep.seconds", 30),
    (releases.scales_by_one_hand, "Deployment.spec.replicas", GONE),
    (releases.scales_by_one_hand, "Ingress", {"kind": "ScaledObject", "spec": {"scaleTargetRef": {"name": "s"}}}),
    (releases.asks_for_its_lag_as_it_connects, "Ingress", {"kind": "ScaledObject", "spec": LAG_BY_PASSWORD}),
    (releases.is_scraped_under_its_own_labels, "ServiceMonitor.spec.endpoints.0.honorLabels", GONE),
    (releases.names_whom_it_talks_to, "NetworkPolicy.spec.podSelector.matchLabels", {"app.kubernetes.io/name": "x"}),
    (releases.names_whom_it_talks_to, "NetworkPolicy.spec.policyTypes", ["Ingress"]),
    (releases.names_whom_it_talks_to, "NetworkPolicy.spec.egress.0.to", GONE),
    (releases.names_whom_it_talks_to, "NetworkPolicy.spec.ingress.0.ports", GONE),
    (releases.is_reached_inside, "Service.spec.type", "LoadBalancer"),
    (releases.is_reached_inside, "Ingress.spec.tls", []),
    (releases.ends_in_time, "CronJob.spec.concurrencyPolicy", "Allow"),
    (releases.ends_in_time, "CronJob.spec.jobTemplate.spec.activeDeadlineSeconds", GONE),
    (releases.ends_in_time, "CronJob.spec.jobTemplate.spec.podFailurePolicy", GONE),
    (releases.compares_its_contracts, "Job.metadata.annotations", GONE),
    (releases.compares_its_contracts, "Job.spec.template.spec.containers.0.image", "m/s:0"),
    (releases.compares_its_contracts, "Job.spec.template.spec.containers.0.args.0", "--service=other"),
    (releases.compares_its_contracts, "Job.spec.template.spec.containers.0.args.1", "--wait=60"),
    (releases.deletes_nothing, "Ingress.kind", "PersistentVolumeClaim"),
    (releases.deletes_nothing, "Pod.metadata.annotations", {"helm.sh/hook": "test, pre-delete"}),
    (releases.stays_in_its_namespace, "Ingress.kind", "ClusterRole"),
    (releases.can_be_tested, "Pod.metadata.annotations", GONE),
]


def test_a_good_release_breaks_no_policy():
    assert faults(rendered()) == []


@pytest.mark.parametrize(("policy", "where", "value"), BREAKS, ids=lambda it: getattr(it, "__name__", str(it)[-40:]))
def test_a_policy_refuses_what_breaks_it(policy, where, value):
    """It says so by itself, and names the resource."""
    said = [*policy(changed(rendered(), where, value))]
    assert said, f"{policy.__name__} has nothing against {where} {value}"


def test_every_policy_has_an_example_that_breaks_it():
    assert {policy for policy, _, _ in BREAKS} == set(POLICIES)


def rendered() -> Release:
    """Read the good release; no two of its resources share a mapping."""
    return Release(copy.deepcopy([yaml.safe_load(yaml.dump(it, Dumper=_Plain)) for it in _LOADED]))


def changed(release: Release, where: str, value: object) -> Release:
    """Change one value, or the kind's whole resource."""
    kind, *path = where.replace("app.kubernetes~io", "app@kubernetes~io").split(".")
    path = [step.replace("@", ".").replace("~", ".") for step in path]
    (target,) = release.of(kind)
    if not path:
        target.clear()
        target.update({"metadata": {"name": "s", "labels": {}}, **value})
        return release
    for step in path[:-1]:
        target = target[int(step)] if isinstance(target, list) else target[step]
    last = int(path[-1]) if isinstance(target, list) else path[-1]
    if value is GONE:
        del target[last]
    else:
        target[last] = value
    return release


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


_LOADED = yaml.safe_load(GOOD.read_text("utf-8"))["resources_rendered"]
