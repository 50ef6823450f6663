"""Every service on a cluster, from its chart, under constant traffic: `make cluster-e2e`; deploy/cluster/README.md.

The traffic begins when the first services are installed, and ends after the last rollback. A client sends a request
that failed once more; only then has it failed, and none may. At the end rows, counts and timelines are compared with
what the clients were told. Steps are functions; ONLY=kills,upgrades runs these on what is installed, under traffic.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import changes
import stores
from kube import CHARTS, HELM, NAMESPACE, RefusedError, build, helm, kubectl, run, settled, upgrade
from telling import NotAsItShouldBeError, expect, keep, say, timed

from murmuration_testkit.people import get
from murmuration_testkit.traffic import Rates, Traffic
from murmuration_testkit.waiting import eventually, remaining

LOG = Path(__file__).with_name("last-run.log")
RATES = Rates(*map(float, os.environ.get("RATES", "4 4 12").split()))
EDGES = ("gateway", "follow-service", "tweet-service", "timeline-service")
WORKERS = ("cdc-bridge", "count-aggregator", "fanout-worker")
SETTLED_S = 180.0


def begin() -> None:
    """Have empty namespaces, and in them the stores' names, secrets and certificates."""
    for namespace in (NAMESPACE, stores.STORES):
        run("kubectl", "delete", "namespace", namespace, "--ignore-not-found", "--timeout=180s")
    stores.namespaces()
    stores.names()
    stores.keys()


def jobs() -> None:
    """Make tables, topics, subjects and ACLs, by the jobs of two charts; again, since they are safe to repeat."""
    for name in ("tables", "schemas", "tables", "schemas"):
        timed(name, upgrade, name, "--wait-for-jobs")


def edges() -> None:
    """Install the gateway and the services behind it."""
    for name in EDGES:
        timed(name, upgrade, name)
    find_gateway()
    eventually(lambda: get("/v1/timeline")[0], 401, within=60)


def workers() -> None:
    """Install bridge, aggregator and fan-out, behind which the traffic's events have gathered meanwhile."""
    for name in (*WORKERS, "suggestions"):  # its CronJob is suspended there
        timed(name, upgrade, name)
    for name in (*EDGES, *WORKERS):
        say(f"    {name} runs {build(name)}")


def uninstalled() -> None:
    """Uninstall every chart: no table and no topic goes with it."""
    before = stores.tables(), stores.topics_there()
    expect("tables and topics before", all(before), wanted=True)
    for name in CHARTS:
        helm("uninstall", name, "--wait")
    expect("the tables and topics afterwards", (stores.tables(), stores.topics_there()), before)


PREPARATION = [begin, jobs, edges]
UNDER_TRAFFIC = [
    workers,
    changes.story,
    changes.helm_tests,
    changes.upgrades,
    changes.kills,
    changes.bad_images,
    changes.bad_values,
    changes.incompatible,
    changes.secrets_change,
    changes.certificate_change,
]


def find_gateway() -> None:
    """Put the gateway's address into the environment: GATEWAY_ADDRESS, else its Service's within the cluster."""
    address = os.environ.get("GATEWAY_ADDRESS") or kubectl(
        "get", "service", "gateway", "--output", "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}"
    )
    os.environ["GATEWAY_URL"] = f"https://{address}"


def attempt(step: Callable[[], None], traffic: Traffic | None) -> bool:
    """Run one step, and say how long it took and what its traffic met; False if something was not as it should be."""
    began, since = time.monotonic(), time.time()
    say(f"{step.__name__}: {(step.__doc__ or '').strip()}")
    good = True
    try:
        step()
    except (NotAsItShouldBeError, RefusedError, AssertionError, OSError, subprocess.SubprocessError) as error:
        say(f"    FAILED {type(error).__name__}: {error}")
        good = False
    met = (
        f", {traffic.mended(since)} requests mended by a retry, {len(traffic.failed(since))} failed" if traffic else ""
    )
    say(f"  {step.__name__} took {time.monotonic() - began:.0f} s{met}")
    return good


def compare(traffic: Traffic, took: float) -> bool:
    """Say what the traffic was, and compare what is there with what the clients were told."""
    sent = ", ".join(f"{count} {name}s" for name, count in sorted(traffic.sent.items()))
    say(f"traffic: {sent} in {took:.0f} s")
    say(f"  {traffic.mended()} requests mended by a retry, {len(traffic.failed())} failed")
    for failure in traffic.failed()[:20]:
        say(f"    FAILED {time.strftime('%H:%M:%S', time.gmtime(failure.at))} {failure.request}: {failure.why}")
    settled()
    differences = remaining(traffic.crowd.differences, within=SETTLED_S, every=3)
    say(f"counts, timelines and rows against what clients were told: {len(differences) or 'no'} differences")
    for difference in differences[:20]:
        say(f"    DIFFERENCE {difference}")
    return not differences and not traffic.failed()


def main() -> int:
    """Run what ONLY names, or everything; 1 if anything was not as it should be."""
    only = [name for name in os.environ.get("ONLY", "").split(",") if name]
    everything = [*PREPARATION, *UNDER_TRAFFIC, uninstalled]
    if unknown := set(only) - {step.__name__ for step in everything}:
        print(f"no step {', '.join(unknown)}; there are {', '.join(step.__name__ for step in everything)}")
        return 2
    began = time.monotonic()
    say(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC, commit {run('git', 'rev-parse', 'HEAD')[:12]}")
    say(f"{run('kubectl', 'version').strip()}\nhelm {run(HELM, 'version', '--short').strip()}")
    wanted = [step for step in everything if step.__name__ in only or not only]
    for step in [step for step in wanted if step in PREPARATION]:
        if not attempt(step, None):
            return 1
    good = True
    if busy := [step for step in wanted if step in UNDER_TRAFFIC]:
        find_gateway()
        traffic, started = Traffic(RATES), time.monotonic()
        traffic.start()
        try:
            results = [attempt(step, traffic) for step in busy]
        finally:
            traffic.stop()
        good = compare(traffic, time.monotonic() - started) and all(results)
    if uninstalled in wanted:
        good = attempt(uninstalled, None) and good
    say(f"{'all as it should be' if good else 'NOT as it should be'}; {time.monotonic() - began:.0f} s in all")
    if not only:
        keep(LOG)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
