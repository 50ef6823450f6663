"""Each service in turn, the released version beside this one, under load; then counts and timelines must be the truth.

The released processes run from a worktree at the commit in deploy/released.yaml, with its own lock. An edge gets half
of its requests; a worker or a bridge shares the work, then has all of it for a while (as after a rollback), then shares
it again.

SECONDS in the environment says how long each service's turn is; 60 unless set. ONLY_SERVICE names one service.
BREAK=1 has the released follow-service write a field under another name: then the drill must find differences.
"""

import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from murmuration_testkit.past import give_past
from murmuration_testkit.ports import free_port
from murmuration_testkit.probes import get
from murmuration_testkit.processes import all_ready, caught_up, control
from murmuration_testkit.released import Checkout, checkout, releases
from murmuration_testkit.services import SERVICES, Process, Service, load
from murmuration_testkit.traffic import Rates, Traffic
from murmuration_testkit.waiting import eventually, remaining
from murmuration_testkit.worker import Worker

SECONDS = int(os.environ.get("SECONDS", "60"))
ONLY_SERVICE = os.environ.get("ONLY_SERVICE", "")
BREAK = bool(os.environ.get("BREAK"))
RATES = Rates(follows=20, tweets=20, pages=100)
ACTS = {"follows": ("follow", "unfollow"), "tweets": ("tweet", "delete"), "pages": ("page",)}
ALONE_SHARE = 3  # a third of a worker's turn is the released one's alone
ENOUGH = 0.95  # of the load that was asked for
SETTLED_S = 120.0
TIME_LIMIT_S = 3_600


class Beside:
    """Where each path's requests go: by turns to the gateway and to the released edge beside it, if there is one."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}  # of a released edge, by service

    def __call__(self, path: str) -> str:
        """Return the path, or the same at the address of the released edge that it belongs to."""
        for service, address in self.addresses.items():
            if any(re.fullmatch(route, path) for route in SERVICES[service].routes):
                return random.choice(["", address]) + path
        return path


def two_versions() -> dict[str, Any]:
    """Run each released service beside this one for its turn, and compare at the end."""
    services = [SERVICES[name] for name in releases() if ONLY_SERVICE in name]
    checkouts = {service.name: checkout(releases()[service.name]) for service in services}
    give_past()
    beside = Beside()
    traffic = Traffic(RATES, place=beside)
    traffic.start()
    try:
        began = time.monotonic()
        for service in services:
            print(f"    {service.name} {releases()[service.name].version} beside this one", flush=True)
            _take_turn(service, checkouts[service.name], beside)
        took = time.monotonic() - began
    finally:
        traffic.stop()
    print("    settling", flush=True)
    all_ready(within=SETTLED_S)
    for group in ("count-aggregator", "fanout-worker"):
        caught_up(group)
    found = remaining(traffic.crowd.differences, within=SETTLED_S, every=2)
    sent = Counter({kind: sum(traffic.sent[act] for act in acts) for kind, acts in ACTS.items()})
    found += [
        f"only {sent[kind] / took:.1f} {kind} a second, not {a_second}: the load was not there"
        for kind, a_second in RATES._asdict().items()
        if sent[kind] < a_second * took * ENOUGH
    ]
    found += [f"failed twice: {failure.request}: {failure.why}" for failure in traffic.failed()]
    return {
        "name": "the released version of each service beside this one",
        "faults": f"{', '.join(f'{s.name} {releases()[s.name].version}' for s in services)}, {SECONDS} s each",
        "compared": "each person's counts with the rows, and their whole timeline with what those they follow said",
        "differences": found,
        "counts": ", ".join(f"{count} {kind}" for kind, count in sent.items())
        + f" in {took:.0f} s, {traffic.mended()} answered only at the second attempt",
    }


def _take_turn(service: Service, released: Checkout, beside: Beside) -> None:
    theirs = load(released.directory / "deploy/services.yaml")[service.name]
    with ExitStack() as stack:
        for process in theirs.processes:
            address = stack.enter_context(_beside(process, released))
            if service.is_edge and "PORT" in process.ports:
                beside.addresses[service.name] = address
        if service.is_edge:
            time.sleep(SECONDS)
            beside.addresses.clear()
            return
        ours = [process.name for process in service.processes]
        time.sleep(SECONDS / ALONE_SHARE)
        control("stop", *ours)
        time.sleep(SECONDS / ALONE_SHARE)
        control("start", *ours)
        time.sleep(SECONDS / ALONE_SHARE)


@contextmanager
def _beside(process: Process, released: Checkout) -> Iterator[str]:
    """Run a released process for as long as the context lasts; give the address of its API."""
    admin, port = free_port(), free_port()
    ports = {"PORT": str(port), "ADMIN_PORT": str(admin)}
    local = {name: str(value) for name, value in process.local.items()}
    with _python_path(released) as path:
        module = process.command.removeprefix("python -m ")
        worker = Worker(module, admin, f"{process.name}-released", released, **ports, **local, **path)
        worker.start()
        try:
            eventually(lambda: get(f"http://127.0.0.1:{admin}/readyz")[0], 200, within=60)
            yield f"http://127.0.0.1:{port}"
        finally:
            worker.end()


@contextmanager
def _python_path(released: Checkout) -> Iterator[dict[str, str]]:
    """Put a broken follow-service before the released one, if that is what is asked for."""
    if not BREAK:
        yield {}
        return
    with tempfile.TemporaryDirectory() as directory:
        package = Path(directory) / "follow_service"
        shutil.copytree(released.directory / "follow-service/src/follow_service", package)
        rows = package / "dynamo_follows.py"
        text = rows.read_text()
        broken = text.replace("edge, FOLLOWERS.followed_at", 'edge, "followed_on"')
        assert broken != text, "the released follow-service names the field in another way: correct this drill"
        rows.write_text(broken)
        yield {"PYTHONPATH": directory}


DRILLS = [two_versions]
