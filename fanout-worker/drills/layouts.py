"""This code beside the released one on one Redis: workers of both, readers of both, and a reader of the next layout.

Workers are killed and paused, so that each partition goes from one release to the other and back, and Redis loses
everything. Then whatever each reader shows must be the truth.

FAULTS in the environment says how many faults; 12 unless set.
"""

import itertools
import os
import random
import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from murmuration_testkit import REPOSITORY
from murmuration_testkit.past import give_past
from murmuration_testkit.ports import free_port
from murmuration_testkit.processes import all_ready, caught_up, control, freeze, kill
from murmuration_testkit.released import checkout, releases
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import remaining
from murmuration_testkit.worker import Worker

from .company import Company
from .fanouts import AHEAD_S, ENVIRONMENT, reader

FAULTS = int(os.environ.get("FAULTS", "12"))
BETWEEN = (2.0, 5.0)  # seconds from one fault to the next
PAUSED_S = 3
LONG_PAUSE_S = 13  # longer than a session with Kafka
SETTLED_S = 90.0
THIS, RELEASED, NEXT = "this code", "the released code", "the next layout"


@contextmanager
def both_workers() -> Iterator[tuple[Worker, Worker]]:
    """Run a worker of this code and a released one, in the place of the stack's."""
    released = checkout(releases()["fanout-worker"])
    control("stop", "fanout-worker")
    port = int(os.environ["FANOUT_WORKER_ADMIN_PORT"])
    ours = Worker("fanout_worker", port, "fanout-worker-this", **ENVIRONMENT)
    theirs = Worker("fanout_worker", free_port(), "fanout-worker-released", released, **ENVIRONMENT)
    try:
        ours.start()
        theirs.start()
        yield ours, theirs
    finally:
        ours.end()
        theirs.end()
        control("start", "fanout-worker")


@contextmanager
def all_readers() -> Iterator[dict[str, str]]:
    """Run what reads beside the stack's own timeline-service; give the addresses of all three."""
    released = checkout(releases()["timeline-service"])
    of_its_own = "timeline-service/gunicorn.conf.py"  # until 0.1.0
    shared = "python:murmuration_edge.gunicorn"
    conf = of_its_own if (released.directory / of_its_own).exists() else shared
    theirs = [str(released.python.with_name("gunicorn")), "-c", conf]
    *ours, _ = shlex.split(PROCESSES["timeline-service"].command)
    with (
        reader("released", [*theirs, "timeline_service.app:create_app()"], released.directory) as old,
        reader("next", [*ours, "--pythonpath", "timeline-service/drills", "next_layout:create()"], REPOSITORY) as new,
    ):
        yield {THIS: "", RELEASED: old, NEXT: new}


def layouts() -> dict[str, Any]:
    """Have people write and read while workers of both releases hand partitions over; then compare what each shows."""
    done: Counter[str] = Counter()
    give_past()
    with ExitStack() as stack:
        workers = stack.enter_context(both_workers())
        readers = stack.enter_context(all_readers())
        all_ready()
        common = [readers[THIS], readers[RELEASED]] * 4
        with Company([*common, readers[NEXT]]) as company:  # whoever goes to the next layout is built anew each time
            time.sleep(AHEAD_S)
            for number, (name, fault) in enumerate(itertools.islice(_faults(*workers), FAULTS), 1):
                time.sleep(random.uniform(*BETWEEN))
                print(f"    {number}/{FAULTS} {name}", flush=True)
                fault()
                done[name] += 1
        print("    settling", flush=True)
        all_ready()
        caught_up("fanout-worker")
        differences = [
            f"{name}: {difference}"
            for name, address in readers.items()
            for difference in remaining(partial(company.differences, address), within=SETTLED_S)
        ]
        starts = {name: worker.starts for name, worker in zip((THIS, RELEASED), workers, strict=True)}
    return {
        "name": f"this code beside the released one, {FAULTS} faults under load",
        "faults": ", ".join(f"{count} x {name}" for name, count in sorted(done.items())),
        "compared": f"whole timelines of {len(company.people)} people, paged from each of {', '.join(readers)}, with "
        "what was acknowledged; and the order of all pages read meanwhile",
        "differences": differences + company.disorder,
        "counts": f"{', '.join(f'{count} {what}' for what, count in company.done.items())}; lives of workers: {starts}",
    }


def _faults(ours: Worker, theirs: Worker) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give every kind once in a random order, and again, and so on."""
    kinds: list[tuple[str, Callable[[], object]]] = [("SIGKILL redis", partial(kill, "redis"))]
    for name, worker in ((THIS, ours), (RELEASED, theirs)):
        kinds += [
            (f"SIGKILL worker of {name}", partial(worker.signal, signal.SIGKILL)),
            (f"SIGTERM worker of {name}", partial(worker.signal, signal.SIGTERM)),
            (f"SIGSTOP {PAUSED_S} s worker of {name}", partial(freeze, worker.signal, PAUSED_S)),
            (f"SIGSTOP {LONG_PAUSE_S} s worker of {name}", partial(freeze, worker.signal, LONG_PAUSE_S)),
        ]
    while True:
        yield from random.sample(kinds, len(kinds))


DRILLS = [layouts]
