"""Run Prometheus beside the local stack, with the rules loaded, until Ctrl-C. It is `make observe`."""

import os
import sys
from pathlib import Path

import yaml

from murmuration_testkit.services import PROCESSES

HERE = Path(__file__).parent
PARTS = HERE.parents[1] / ".stack/parts"
EVERY = "5s"  # a stack is looked at while one waits; in production 15 to 30 s will do


def configuration(environment: dict[str, str]) -> str:
    """Return Prometheus' configuration: each process of services.yaml is a job of its own, and all rules are loaded."""
    targets = {name: f"127.0.0.1:{environment[each.port_variable('ADMIN_PORT')]}" for name, each in PROCESSES.items()}
    return yaml.safe_dump(
        {
            "global": {"scrape_interval": EVERY, "evaluation_interval": EVERY},
            "rule_files": [str(path) for path in sorted(HERE.glob("rules/*.yaml"))],
            "scrape_configs": [
                {"job_name": name, "static_configs": [{"targets": [target]}]} for name, target in targets.items()
            ],
        }
    )


def command(environment: dict[str, str]) -> list[str]:
    """Write what Prometheus needs into the stack's directory, and return how it is started."""
    directory = Path(environment["STACK_DIR"]) / "prometheus"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "prometheus.yml").write_text(configuration(environment), "utf-8")
    words = [
        str(PARTS / "bin/prometheus"),
        f"--config.file={directory}/prometheus.yml",
        f"--storage.tsdb.path={directory}/data",
        f"--web.listen-address=127.0.0.1:{environment.get('PROMETHEUS_PORT') or 9090}",
        "--log.level=warn",
    ]
    pages = PARTS / "prometheus/usr/share/prometheus/web"
    return [*words, f"--web.local-assets={pages}"] if pages.exists() else words


def main() -> None:
    """Become Prometheus."""
    if not (Path(os.environ["STACK_DIR"]) / "ports.json").exists():
        sys.exit("the stack is not up: run `make up` first")
    words = command(dict(os.environ))
    address = next(word for word in words if "listen-address" in word).partition("=")[2]
    print(f"Prometheus: http://{address} (its pages Alerts, Graph, Status); Ctrl-C ends it")
    print(f"Grafana: no package registry has a server; import {HERE}/dashboards/*.json into yours", flush=True)
    os.execv(words[0], words)  # noqa: S606


if __name__ == "__main__":
    main()
