"""Make what Grafana and the Prometheus operator load, of dashboards.yaml and rules/.

Run it after a change: python deploy/observe/write_files.py
`--docs URL` prints only the PrometheusRules, with links into docs/ that begin with the address where you serve it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
COLUMNS, WIDTH, HEIGHT = 3, 8, 8
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def generated(docs: str = "") -> dict[Path, str]:
    """Return each generated file, and what it should hold."""
    described = yaml.safe_load((HERE / "dashboards.yaml").read_text("utf-8"))
    boards = {
        HERE / f"dashboards/{name}.json": json.dumps(dashboard(name, **board), indent=1) + "\n"
        for name, board in described.items()
    }
    rules = yaml.safe_dump_all([operators(path, docs) for path in sorted(HERE.glob("rules/*.yaml"))], sort_keys=False)
    return boards | {HERE / "prometheusrule.yaml": f"# Made by write_files.py of rules/; do not edit.\n{rules}"}


def dashboard(name: str, title: str, panels: list[tuple[str, str, dict[str, str]]]) -> dict[str, Any]:
    """Return a dashboard as Grafana imports it."""
    return {
        "uid": f"murmuration-{name}",
        "title": f"Murmuration: {title}",
        "tags": ["murmuration"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": [panel(number, *described) for number, described in enumerate(panels)],
    }


def panel(number: int, title: str, unit: str, expressions: dict[str, str]) -> dict[str, Any]:
    """Return one panel: lines over time, three panels to a row."""
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": row * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + each), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for each, (legend, expression) in enumerate(expressions.items())
        ],
    }


def operators(path: Path, docs: str) -> dict[str, Any]:
    """Return a rule file as the Prometheus operator takes it."""
    groups = yaml.safe_load(path.read_text("utf-8"))["groups"]
    for rule in (rule for group in groups for rule in group["rules"] if "alert" in rule):
        annotations = rule["annotations"]
        rule["annotations"] = annotations | {"runbook_url": docs + annotations["runbook_url"]}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": f"murmuration-{path.stem}", "labels": {"app.kubernetes.io/part-of": "murmuration"}},
        "spec": {"groups": groups},
    }


def main() -> None:
    """Write the files, or print the rules with links of your own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", metavar="URL", default="", help="what stands before docs/ in a runbook's link")
    docs = parser.parse_args().docs
    for path, text in generated(docs).items():
        if not docs:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        elif path.suffix == ".yaml":
            print(text, end="")


if __name__ == "__main__":
    main()
