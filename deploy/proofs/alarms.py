"""Prometheus' own promtool reads every rule and dashboard, and sees alarms fire and keep still as rule-tests/ say."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml

from murmuration_testkit import REPOSITORY

STACK = ""
OBSERVE = REPOSITORY / "deploy/observe"


def alarms() -> dict[str, Any]:
    """Fetch promtool if it is not here, and have it look at everything."""
    subprocess.run([REPOSITORY / "deploy/local/parts/fetch.sh", "prometheus"], check=True)
    rules, cases = sorted(OBSERVE.glob("rules/*.yaml")), sorted(OBSERVE.glob("rule-tests/*.yaml"))
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        wrapped = Path(directory) / "dashboards.yaml"
        expressions = shown()
        recorded = [{"record": f"shown:{number}", "expr": each} for number, each in enumerate(expressions)]
        wrapped.write_text(yaml.safe_dump({"groups": [{"name": "dashboards", "rules": recorded}]}), "utf-8")
        said = [
            *promtool("check", "rules", *map(str, rules), str(wrapped)),
            *promtool("test", "rules", *map(str, cases)),
        ]
    return {
        "name": "rules and dashboards, by promtool",
        "faults": "a world in which every alarm fires, and one in which none does; burns and blips of each objective",
        "compared": "the alarms that fire, with those that should",
        "differences": said,
        "counts": f"{len(rules)} files of rules, {len(cases)} of tests, {len(expressions)} expressions of dashboards",
    }


def shown() -> list[str]:
    """Return every expression of the dashboards as Grafana asks it."""
    boards = [json.loads(path.read_text("utf-8")) for path in sorted(OBSERVE.glob("dashboards/*.json"))]
    targets = [target["expr"] for board in boards for panel in board["panels"] for target in panel["targets"]]
    return [expression.replace("$__rate_interval", "5m") for expression in targets]


def promtool(*words: str) -> list[str]:
    """Return what it finds wrong."""
    ran = subprocess.run(
        [REPOSITORY / ".stack/parts/bin/promtool", *words], check=False, capture_output=True, text=True
    )
    return [f"promtool {words[0]}: {ran.stdout}{ran.stderr}"] if ran.returncode else []


PROOFS = [alarms]
