"""Every chart with each environment's values, rendered and held against what a platform team asks for.

It needs no cluster. helm is the one on the PATH, or is built once with go; Helm 3 and Helm 4 must render the same. The
policies stand in murmuration_testkit.charts; what can be compared without helm is in deploy/tests/test_chart_values.py.
"""

import ast
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from murmuration_testkit import REPOSITORY
from murmuration_testkit.charts import helm
from murmuration_testkit.charts.api_server import api_server
from murmuration_testkit.charts.bad_values import bad_values
from murmuration_testkit.charts.files import ENVIRONMENTS, Chart, charts
from murmuration_testkit.charts.manifests import Release, Workload
from murmuration_testkit.charts.policies import POLICIES, faults
from murmuration_testkit.charts.release_policies import pre_stop_seconds
from murmuration_testkit.services import PROCESSES, SERVICES, Process

STACK = ""
TIME_LIMIT_S = 3_000  # helm is built twice, the first time
CRON_JOBS = {"count-reconciler"}  # processes of the local stack; in Kubernetes they are CronJobs
WITHOUT_SCHEMA = {"ScaledObject", "ServiceMonitor", "HTTPRoute"}  # of others' CRDs
ENDS_SOON_S = 3.0  # of its grace: for the process to end after its work
LIVE = 7  # pods of a running release, another number than any values give
SECRET = {"existingSecret": "s", "key": "k"}
GRPC_FILES = ("GRPC_CA_FILE", "GRPC_CERTIFICATE_FILE", "GRPC_KEY_FILE")
CHOICES: tuple[Mapping[str, Any], ...] = (
    {"image": {"digest": f"sha256:{'0' * 64}"}},
    {"serviceAccount": {"create": False, "name": "made-by-others"}},
    {"serviceMonitor": {"enabled": True}},
    {"autoscaling": {"enabled": True}},
    {"autoscaling": {"enabled": False}},
    {"keda": {"enabled": True}},
    {"keda": {"enabled": True, "authenticationRef": "kafka"}},
    {"httpRoute": {"enabled": True, "parentRefs": [{"name": "public"}], "hostnames": ["api.example"]}},
    {"ingress": {"enabled": True, "hosts": ["api.example"], "tls": [{"hosts": ["api.example"], "secretName": "tls"}]}},
    {"acls": {"enabled": True, "principals": {"cdc-bridge": "User:bridge"}}},
    {"eraser": {"enabled": False}},
    {"finisher": {"enabled": False}},
    {"grpc": {"enabled": True, "callers": [{"podSelector": {"matchLabels": {"app": "ads"}}}]}},
    {"grpc": {"enabled": True, "files": dict.fromkeys(GRPC_FILES, SECRET)}},
    {"reconcile": {"everySeconds": 3600}},
    {"audit": {"everySeconds": 0}},
    {"podAnnotations": {"example/who": "us"}, "podLabels": {"team": "timelines"}, "priorityClassName": "high"},
    {"imagePullSecrets": [{"name": "pull"}], "nodeSelector": {"kubernetes.io/arch": "amd64"}},
    {"secrets": {"KAFKA_SASL_PASSWORD": SECRET, "SCHEMA_REGISTRY_PASSWORD": SECRET}},
)


def rendered_charts() -> dict[str, Any]:
    """Lint and render every chart for every environment, and with each choice that its values offer."""
    differences, sets = [], 0
    for chart in charts():
        helm.prepare(chart)
        for environment in ENVIRONMENTS:
            values = chart.environment(environment)
            differences += _named(f"{chart.name}, {environment}", _of_environment(chart, values))
            sets += 1
        for choice in _choices(chart):
            with _file(choice) as file:
                release = helm.release(chart, chart.environment("staging"), file, options=("--is-upgrade",))
            differences += _named(f"{chart.name} with {choice}", faults(release))
            sets += 1
    return {
        "name": "charts: lint, policies, Kubernetes' schemas",
        "faults": "each environment's values, and each choice that the values offer",
        "compared": f"{sets} sets of values, {len(POLICIES)} policies; Kubernetes {helm.KUBERNETES}; Helm 3 with 4",
        "differences": differences,
        "counts": f"{len(charts())} charts, {len(ENVIRONMENTS)} environments",
    }


def refused_values() -> dict[str, Any]:
    """Have helm itself refuse each bad value, and say which."""
    differences, tried = [], 0
    for chart in charts():
        helm.prepare(chart)
        twice = {"settings": {"LOG_LEVEL": "INFO"}, "secrets": {"LOG_LEVEL": SECRET}}
        for bad in [*bad_values(chart), *([twice] if "secrets" in chart.values else ())]:
            tried += 1
            with _file(bad) as file:
                files = ["-f", str(chart.environment("staging")), "-f", str(file)]
                done = helm.run(["template", chart.folder, *files, "--kube-version", helm.KUBERNETES])
            if done.returncode == 0:
                differences.append(f"{chart.name} takes {bad}")
            elif "schema" not in done.stderr and not (bad is twice and "LOG_LEVEL are both set" in done.stderr):
                differences.append(f"{chart.name} refuses {bad}, but not by its schema: {done.stderr.strip()[-300:]}")
    return {
        "name": "bad values",
        "faults": "unknown, mistyped, missing and impossible values, one at a time",
        "compared": "helm's answer with a refusal by values.schema.json",
        "differences": differences,
        "counts": f"{tried} values",
    }


def agreement_with_the_code() -> dict[str, Any]:
    """Compare rendered processes with deploy/services.yaml, and their grace with how long the code takes to stop."""
    differences = []
    for chart in charts():
        if service := SERVICES.get(chart.name):
            helm.prepare(chart)
            release = helm.release(chart, chart.environment("local"))
            processes = {_command(process): process for process in service.processes}
            first = service.processes[0]
            for workload in release.workloads:
                command = tuple(workload.pod["containers"][0].get("command") or shlex.split(first.command))
                process = processes.pop(command, None)
                if not workload.keeps_running:  # a job has no ports or probes; here a process may do what it does
                    continue
                found = _of_process(workload, process) if process else [f"no process of services.yaml runs {command}"]
                differences += _named(workload.name, found)
            differences += [f"{chart.name}: nothing runs {shlex.join(left)}" for left in processes]
        if chart.name == "suggestions":
            helm.prepare(chart)
            differences += _named(chart.name, _of_refusals(helm.release(chart, chart.environment("local"))))
    return {
        "name": "charts and code",
        "faults": "none: what two places say is compared",
        "compared": "commands, ports, probes and grace with services.yaml and the code's own limits",
        "differences": differences,
        "counts": f"{len(PROCESSES)} processes",
    }


def autoscalers_turned_on() -> dict[str, Any]:
    """Upgrade a running release to an autoscaler: Helm 3 sets a number of pods that it gives no longer to 1."""
    differences, tried = [], 0
    for chart in charts():
        for scaler in {"autoscaling", "keda"} & chart.values.keys():
            helm.prepare(chart)
            for major in helm.MODULES:
                tried += 1
                differences += _named(f"{chart.name}, {scaler}, Helm {major}", _turned_on(chart, scaler, major))
    return {
        "name": "autoscalers turned on",
        "faults": "an upgrade turns an autoscaler on where the release gave a number, and where it never did",
        "compared": "the number that the upgrade gives with that of the live Deployment, or with none",
        "differences": differences,
        "counts": f"{tried} upgrades",
    }


def _turned_on(chart: Chart, scaler: str, major: int) -> Iterator[str]:
    values = chart.environment("staging")
    with _file({scaler: {"enabled": False}}) as off, _file({scaler: {"enabled": True}}) as on:
        (before,) = (
            it for it in helm.release(chart, values, off).of("Deployment") if it["metadata"]["name"] == chart.name
        )
        for given, wanted in ((True, LIVE), (False, None)):
            metadata = before["metadata"] if given else {"name": chart.name}
            live = {**before, "metadata": metadata, "spec": {**before["spec"], "replicas": LIVE}}
            rendered = helm.release(chart, values, on).resources
            with api_server(helm.KUBERNETES, rendered, {chart.name: live}) as address:
                options = [
                    "--is-upgrade",
                    "--dry-run=server",
                    "--kube-apiserver",
                    address,
                    "--disable-openapi-validation",
                ]
                text = helm.template(chart, values, on, options=options, major=major)
            found = {it["metadata"]["name"]: it["spec"].get("replicas") for it in Release.read(text).of("Deployment")}
            if found[chart.name] != wanted:
                yield f"the upgrade gives {found[chart.name]}, not {wanted}"


def _of_environment(chart: Chart, values: Path) -> Iterator[str]:
    if complaint := helm.lint(chart, values):
        yield f"helm lint --strict: {complaint}"
    text = helm.template(chart, values)
    yield from faults(Release.read(text))
    yield from _against_kubernetes(text)
    for major in helm.MODULES:
        if [*yaml.safe_load_all(helm.template(chart, values, major=major))] != [*yaml.safe_load_all(text)]:
            yield f"Helm {major} renders something else"
    first, upgraded = (helm.release(chart, values, options=each) for each in ((), ("--is-upgrade",)))
    if first.of("Deployment") != upgraded.of("Deployment"):
        yield "an upgrade without a change restarts pods"


def _against_kubernetes(text: str) -> Iterator[str]:
    known = [each for each in yaml.safe_load_all(text) if each and each["kind"] not in WITHOUT_SCHEMA]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump_all(known, file)
        file.flush()
        validate = str(Path(sys.executable).with_name("kubernetes-validate"))
        command = [validate, "--strict", "--quiet", "-k", helm.KUBERNETES, file.name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        yield f"kubernetes-validate: {done.stdout}{done.stderr}"


def _of_process(workload: Workload, process: Process) -> Iterator[str]:
    (container,) = workload.pod["containers"]
    if not workload.keeps_running:
        return
    ports = {it["name"]: it["containerPort"] for it in container["ports"]}
    api = "grpc" if "grpc" in ports else "http"
    if {api in ports, "admin" in ports} != {"PORT" in process.ports, True}:
        yield f"has the ports {[*ports]}, and services.yaml {[*process.ports]}"
    given = {it["name"]: it.get("value") for it in container["env"]}
    for name, variable in (("admin", "ADMIN_PORT"), (api, "PORT")):
        if given.get(variable) != (str(ports[name]) if name in ports else None):
            yield f"{variable} is {given.get(variable)}, and the port {name} is {ports.get(name)}"
    grace, needed = workload.pod["terminationGracePeriodSeconds"], pre_stop_seconds(container) + _stops_within(process)
    if grace < needed + ENDS_SOON_S:
        yield f"has {grace} s of grace; preStop and the code's own limit take {needed:.0f} s"


def _of_refusals(release: Release) -> Iterator[str]:
    """Hold the exit code that is not tried again against that of a run that looks wrong."""
    (job,) = (it["spec"]["jobTemplate"]["spec"] for it in release.of("CronJob"))
    rules = [it for it in job["podFailurePolicy"]["rules"] if it["action"] == "FailJob"]
    found = [code for rule in rules for code in rule["onExitCodes"]["values"]]
    refused = _constant("suggestions/src/murmuration_suggestions/commands.py", "REFUSED")
    if found != [refused] or job["template"]["spec"]["restartPolicy"] != "Never":
        yield f"does not try again what ends with {found}, and a run that looks wrong ends with {refused}"


def _stops_within(process: Process) -> float:
    """Return after how many seconds a process has ended by itself at the latest, from the code that sees to it."""
    if "gunicorn" in process.command:
        return _constant("libs/edge/src/murmuration_edge/gunicorn.py", "graceful_timeout")
    if process.name == "cdc-bridge":
        return _constant("cdc-bridge/src/cdc_bridge/settings.py", "lease_seconds") / 2 + ENDS_SOON_S
    if process.name in ("count-aggregator", "fanout-worker"):
        return _constant("libs/worker/src/murmuration_worker/faust_app.py", "LONGEST_STOP_SECONDS")
    if process.name == "follow-grpc":
        return _constant("follow-service/src/follow_service/grpc_server.py", "DRAIN_SECONDS")
    return 0  # it ends where it stands


def _constant(file: str, name: str) -> float:
    for node in ast.walk(ast.parse((REPOSITORY / file).read_text("utf-8"))):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return float(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    raise LookupError(f"{file} sets no {name}")


def _command(process: Process) -> tuple[str, ...]:
    words = shlex.split(process.command)
    return tuple(words[: words.index("--every")] if process.name in CRON_JOBS else words)


def _choices(chart: Chart) -> list[Mapping[str, Any]]:
    schema = chart.schema["properties"]
    return [it for it in CHOICES if set(it) <= set(schema) and set(it.get("secrets", ())) <= _secrets(schema)]


def _secrets(schema: Mapping[str, Any]) -> set[str]:
    return set(schema.get("secrets", {}).get("properties", ()))


def _named(what: str, said: Sequence[str] | Iterator[str]) -> list[str]:
    return [f"{what}: {each}" for each in said]


@contextmanager
def _file(values: Mapping[str, Any]) -> Iterator[Path]:
    """Give a file of these values, for as long as the context lasts."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(dict(values), file)
        file.flush()
        yield Path(file.name)


PROOFS = [rendered_charts, refused_values, agreement_with_the_code, autoscalers_turned_on]
