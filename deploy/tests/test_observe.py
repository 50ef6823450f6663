"""Alarms, objectives and dashboards agree with the metrics, the runbook and what is made of them."""

import re
from pathlib import Path

import pytest
import yaml
from observe import expressions, write_files

from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

OBSERVE = REPOSITORY / "deploy/observe"
OPERATIONS = (REPOSITORY / "docs/operations.md").read_text("utf-8")
ALERTS = [rule for rule in expressions.rules() if "alert" in rule]
RECORDED = {rule["record"] for rule in expressions.rules() if "record" in rule}
PROMETHEUS_OWN = {"up": set(), "ALERTS": {"alertname", "alertstate"}}
OF_PROCESSES = {"process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total"}
OF_RULES = {"slo", "le"}
PATHS = [path for path in sorted(OBSERVE.rglob("*")) if path.suffix in (".json", ".yaml")]


def documented():
    """Return each metric of operations.md with its labels; another test compares that table with the code."""
    rows = re.findall(r"^\| `(\w+)(?:\{([\w,]+)\})?` \|", OPERATIONS.partition("\n## Metrics\n")[2], re.MULTILINE)
    return {name: {*labels.split(",")} - {""} for name, labels in rows}


def anchors():
    """Return the anchors of operations.md's headings."""
    headings = re.findall(r"^#+ (.+)$", OPERATIONS, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


METRICS = documented() | PROMETHEUS_OWN | {name: set() for name in OF_PROCESSES | RECORDED}


def labels_of(metric):
    """Return the labels of a metric, also of a part of a histogram; None if nobody exports it."""
    whole = METRICS.get(metric, METRICS.get(re.sub(r"_(bucket|count|sum)$", "", metric)))
    return None if whole is None else whole | expressions.OF_TARGETS | OF_RULES


def test_what_is_made_of_the_descriptions_is_up_to_date():
    """After a change: python deploy/observe/write_files.py."""
    made = write_files.generated()
    assert {path: path.read_text("utf-8") for path in made} == made
    assert {*(OBSERVE / "dashboards").iterdir()} == {path for path in made if path.suffix == ".json"}


def test_links_of_the_rules_may_begin_with_an_address():
    """As a pager needs them."""
    (rules,) = (text for path, text in write_files.generated("https://docs.example/").items() if path.suffix == ".yaml")
    links = re.findall(r"runbook_url: (\S+)", rules)
    assert links
    assert all(link.startswith("https://docs.example/docs/operations.md#") for link in links)


@pytest.mark.parametrize("expression", expressions.ours())
def test_every_expression_asks_for_metrics_and_labels_that_there_are(expression):
    """By the table of operations.md."""
    asked = expressions.selectors(expression)
    assert [each.metric for each in asked if labels_of(each.metric) is None] == []
    for each in asked:
        assert {label for label, _, _ in each.matchers} <= labels_of(each.metric), each.metric
    assert expressions.labels(expression) <= set().union(*(labels_of(each.metric) for each in asked))


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alarm_says_what_happened_and_where_to_read_on(rule):
    """Its text names labels that it has, its link leads to a heading, its severity is one of two."""
    assert rule["labels"]["severity"] in ("page", "ticket")
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert (page, anchor in anchors()) == ("docs/operations.md", True)
    named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    grouped = re.findall(r"\bby \(([^)]*)\)", rule["expr"])
    if rule in list(expressions.rules("kubernetes")) or not named:
        return
    has = set().union(*(labels_of(each.metric) for each in expressions.selectors(rule["expr"])))
    assert named <= ({label.strip() for label in ",".join(grouped).split(",")} if grouped else has)


def test_each_alarm_of_the_services_has_a_section_of_its_name_and_each_section_an_alarm():
    """Under Alarms in operations.md; those of the cluster share a table."""
    table = OPERATIONS.partition("\n## Alarms of the cluster\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(rule["alert"] for rule in expressions.rules("kubernetes"))
    section = OPERATIONS.partition("\n## Alarms\n")[2].partition("\n## ")[0]
    named = {
        rule["alert"] for rule in ALERTS if rule["annotations"]["runbook_url"].endswith(f"#{rule['alert'].lower()}")
    }
    assert set(re.findall(r"^### (\w+)$", section, re.MULTILINE)) == named
    assert named == {rule["alert"] for rule in expressions.our_rules() if "alert" in rule}


@pytest.mark.parametrize("rules", sorted(OBSERVE.glob("rules/*.yaml")), ids=lambda path: path.stem)
def test_promtool_sees_each_alarm_fire_and_a_world_in_which_none_does(rules):
    """`make proof ONLY=alarms` runs these files."""
    text = (OBSERVE / "rule-tests" / rules.name).read_text("utf-8")
    shown = set(re.findall(r'alertname="(\w+)"', text))
    assert {rule["alert"] for rule in expressions.rules(rules.stem) if "alert" in rule} == shown
    cases = [case for test in yaml.safe_load(text)["tests"] for case in test["promql_expr_test"]]
    assert any(case["exp_samples"] == [] for case in cases)


def test_alarms_about_processes_name_every_service():
    """A service that is new is missed when it is absent, down or begins anew."""
    by_name = {rule["alert"]: rule["expr"] for rule in ALERTS}
    absent = {value for each in expressions.selectors(by_name["ServiceAbsent"]) for _, _, value in each.matchers}
    assert absent == set(SERVICES)
    for name in ("ProcessDown", "ProcessRestarts"):
        (wanted,) = (each for each in expressions.selectors(by_name[name]) if each.metric == "build_info")
        assert all(wanted.takes({"service": service}) for service in SERVICES), name


@pytest.mark.parametrize("label", ["deployment", "container", "horizontalpodautoscaler", "poddisruptionbudget"])
def test_alarms_of_the_cluster_are_about_every_chart(label):
    """By the names that the charts give: a chart's own, with or without a process's behind it."""
    rules = [rule["expr"] for rule in expressions.rules("kubernetes") if rule["alert"] != "WorkerEndedItself"]
    asked = [each for expression in rules for each in expressions.selectors(expression)]
    about = [each for each in asked if label in [name for name, _, _ in each.matchers]]
    assert about
    for chart in (*SERVICES, "gateway", "tweet-service-eraser", "follow-service-finisher", "follow-service-grpc"):
        assert all(each.takes({label: chart}) for each in about), chart
    assert not any(each.takes({label: "somebody-elses"}) for each in about)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_nothing_here_names_a_machine(path: Path):
    """No address of ours gets into what others load."""
    assert not re.search(r"https?://", path.read_text("utf-8"))
