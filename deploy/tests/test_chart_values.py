"""Charts without helm: what they say agrees with the code, and their schemas refuse what is wrong.

Whatever has to be rendered is in `make proof ONLY=charts`.
"""

import ipaddress
import re
import tomllib

import pytest
import yaml

from contracts import TOPICS
from follow_service.keeper_settings import KeeperSettings
from follow_service.settings import FinisherSettings, GrpcSettings
from murmuration_testkit import REPOSITORY
from murmuration_testkit.charts.bad_values import bad_values
from murmuration_testkit.charts.files import ENVIRONMENTS, LIBRARY, charts
from murmuration_testkit.charts.settings_read import SET_BY_THE_CHART, settings_read
from murmuration_testkit.services import SERVICES
from tweet_service.settings import EraserSettings

CHARTS = {chart.name: chart for chart in charts()}
PACKAGES = {name: service.package for name, service in SERVICES.items()} | {
    "schemas": "contracts",
    "suggestions": "murmuration_suggestions",
}
OF_LIBRARIES = {  # what boto3, Python's own TLS and OpenTelemetry's SDK read of the environment
    *("AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"),
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_CA_BUNDLE", "SSL_CERT_FILE"),
    *("OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES"),
}
PEERS = {  # who is talked to by whoever has such a setting
    "KAFKA_BOOTSTRAP_SERVERS": "kafka",
    "SCHEMA_REGISTRY_URL": "registry",
    "REDIS_URL": "redis",
    "LIMITS_REDIS_URL": "limits-redis",
    "SUGGESTIONS_REDIS_URL": "suggestions-redis",
    "GRAPH_REDIS_URL": "graph-redis",
    "JWT_JWKS_URL": "issuer",
    "AWS_ENDPOINT_URL_DYNAMODB": "dynamodb",
    "AWS_DEFAULT_REGION": "pod-identity",
    **{service.package.upper(): name for name, service in SERVICES.items() if service.is_edge},
}
every_chart = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)


def test_every_service_has_a_chart_in_its_folder():
    for service in SERVICES:
        assert CHARTS[service].folder == REPOSITORY / service / "chart"


@every_chart
def test_a_chart_names_the_service_s_version_and_the_library_s(chart):
    """The appVersion is the image's tag unless values say otherwise."""
    if chart.name in SERVICES:
        project = tomllib.loads((REPOSITORY / chart.name / "pyproject.toml").read_text())["project"]
        assert chart.about["appVersion"] == project["version"]
    library = yaml.safe_load((LIBRARY / "Chart.yaml").read_text())
    assert [(each["name"], each["version"]) for each in chart.about["dependencies"]] == [
        ("murmuration-library", library["version"])
    ]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_chart_has_every_setting_that_the_code_reads_and_no_other(name):
    """Of what a process or a command of the service reads; a secret may stand in no ConfigMap."""
    read, values = settings_read(PACKAGES[name]), CHARTS[name].schema["properties"]
    beside = [values.get(process, {}).get("properties", {}).get("settings", {}) for process in ("eraser", "finisher")]
    own = {name for settings in beside for name in settings.get("properties", {})}
    settings = {*values["settings"]["properties"], *own}
    assert settings - OF_LIBRARIES == read.settings
    assert {*values["secrets"]["properties"], *own} == read.settings | read.secrets
    assert {*values["files"]["properties"]} - OF_LIBRARIES == read.files


@pytest.mark.parametrize(
    ("template", "settings"),
    [
        ("tweet-service/chart/templates/eraser.yaml", EraserSettings),
        ("follow-service/chart/templates/finisher.yaml", FinisherSettings),
        ("follow-service/chart/templates/grpc.yaml", GrpcSettings),
        ("follow-service/chart/templates/keeper.yaml", KeeperSettings),
    ],
)
def test_a_process_beside_a_service_gets_every_setting_that_it_reads(template, settings):
    """Its template lists them, so that it finds none of the service's own; a new one would be left out silently."""
    listed = re.findall(r'"([A-Z_]+)"', (REPOSITORY / template).read_text())
    assert {name.upper() for name in settings.model_fields} - SET_BY_THE_CHART == {*listed} - OF_LIBRARIES


def test_the_chart_of_tables_has_the_settings_that_the_command_reads():
    """tables.py reads one variable by itself, and boto3 the rest."""
    read = set(re.findall(r'environ\.get\("(\w+)"', (REPOSITORY / "deploy/tables.py").read_text()))
    assert {*CHARTS["tables"].schema["properties"]["settings"]["properties"]} - OF_LIBRARIES == read


@every_chart
def test_pods_may_talk_to_whom_their_settings_name_and_to_nobody_else(chart):
    """A NetworkPolicy that lacks a store keeps a pod from being ready; one that has too many protects nothing."""
    needed = {peer for name, peer in PEERS.items() if name in chart.schema["properties"]["settings"]["properties"]}
    needed |= {"sts"} if "pod-identity" in needed and "dynamodb" not in needed else set()  # dynamodb's rule has STS too
    assert {*chart.values["networkPolicy"]["egress"]} == {"dns"} | needed
    for environment in ENVIRONMENTS:
        values = yaml.safe_load(chart.environment(environment).read_text())
        assert {*values.get("networkPolicy", {}).get("egress", ())} <= {"dns", "collector"} | needed


@every_chart
@pytest.mark.parametrize("environment", ["staging", "production"])
def test_dynamodb_is_asked_at_the_addresses_that_a_gateway_endpoint_has(chart, environment):
    """Those are public ones: a rule for the VPC's own range would keep every pod from DynamoDB and its streams."""
    egress = yaml.safe_load(chart.environment(environment).read_text()).get("networkPolicy", {}).get("egress", {})
    assert "dynamodb" not in egress


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_proxies_are_trusted_by_few_addresses(environment):
    """A client inside a trusted network names any address as its own, so none holds a cluster's or a VPC's range."""
    values = yaml.safe_load(CHARTS["gateway"].environment(environment).read_text())
    networks = [ipaddress.ip_network(each) for each in values["settings"]["TRUSTED_PROXIES"].split()]
    assert max(each.num_addresses for each in networks) <= 256


@pytest.mark.parametrize("name", SERVICES)
def test_an_upgrade_is_compared_with_every_service(name):
    """One that the list lacks would break unasked."""
    assert CHARTS[name].values["contracts"] == {
        "enabled": True,
        "deployed": [f"http://{each}-admin:9090" for each in SERVICES],
        "allowUnknown": False,
    }


def test_edges_scale_by_load_and_workers_by_lag_where_that_is_measured():
    """Whichever pod answers, it goes on where another one did."""
    on = {chart.name for chart in CHARTS.values() if chart.values.get("autoscaling", {}).get("enabled")}
    assert on == {"gateway", "follow-service", "tweet-service", "timeline-service"}
    topics = {chart.name: chart.values["keda"]["topics"] for chart in CHARTS.values() if "keda" in chart.values}
    assert topics == {
        name: [topic.name for topic in TOPICS.values() if name in topic.consumers]
        for name in ("count-aggregator", "fanout-worker")
    }
    most = {name: CHARTS[name].values["keda"]["maxReplicas"] for name in topics}
    assert most == {name: max(TOPICS[topic].partitions for topic in topics[name]) for name in topics}, "more stand by"


@every_chart
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_environment_has_values_for_a_chart_and_its_schema_takes_them(chart, environment):
    values = yaml.safe_load(chart.environment(environment).read_text())
    assert chart.refusals(values) == []


SECRET = {"existingSecret": "aws", "key": "config"}


@pytest.mark.parametrize(
    "values",
    [
        {"networkPolicy": {"ingress": {"http": [], "admin": []}}},
        {"resources": {"requests": {"memory": "500M"}, "limits": {"memory": "1G", "ephemeral-storage": "1.5Gi"}}},
        {"service": {"type": "LoadBalancer", "loadBalancerClass": "service.k8s.aws/nlb"}},
        {"files": {"AWS_CONFIG_FILE": SECRET}},
        {"secrets": {"REDIS_URL": SECRET}},
    ],
    ids=str,
)
def test_a_schema_takes_what_is_right(values):
    """timeline-service's, which has each of them."""
    chart = CHARTS["timeline-service"]
    good = yaml.safe_load(chart.environment("staging").read_text())
    assert chart.refusals(good, values) == []


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_whatever_has_metrics_is_scraped(environment):
    """The gateway too."""
    for chart in CHARTS.values():
        values = yaml.safe_load(chart.environment(environment).read_text())
        if "serviceMonitor" in chart.values:
            assert values["serviceMonitor"]["enabled"] is True, chart.name


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_audit_of_timelines_runs_where_its_alarms_see_what_it_found(environment):
    """As a process, which is scraped; a CronJob that finds differences succeeds, and nobody reads its log."""
    chart = CHARTS["fanout-worker"]
    values = yaml.safe_load(chart.environment(environment).read_text())
    assert {**chart.values["audit"], **values.get("audit", {})}["everySeconds"] == 3600


def test_an_upgrade_of_many_pods_does_not_take_them_one_by_one():
    """Where an autoscaler is on in production: thirty pods, each of a minute, outlast progressDeadlineSeconds."""
    for chart in CHARTS.values():
        values = yaml.safe_load(chart.environment("production").read_text())
        scaled = [{**chart.values.get(it, {}), **values.get(it, {})} for it in ("autoscaling", "keda")]
        if any(it.get("enabled") for it in scaled):
            assert values["rollout"]["maxSurge"] == "25%", chart.name


def test_the_gateway_lets_everybody_in_unless_told_otherwise():
    """An ipBlock of IPv4 is not everybody: some network plugins match no pod by it."""
    assert CHARTS["gateway"].values["networkPolicy"]["ingress"]["http"] == [
        {"namespaceSelector": {}},
        {"ipBlock": {"cidr": "0.0.0.0/0"}},
        {"ipBlock": {"cidr": "::/0"}},
    ]


@every_chart
def test_a_schema_refuses_values_that_are_unknown_mistyped_or_missing(chart):
    """Laid over values that it takes, so that each is refused for its own sake."""
    good = yaml.safe_load(chart.environment("staging").read_text())
    for bad in bad_values(chart):
        assert chart.refusals(good, bad) != [], f"{chart.name} takes {bad}"
