"""Two fan-out workers, bridge and stores broken at random under load; then everybody's timeline must be the truth.

FAULTS in the environment says how many faults; 55 unless set.
"""

import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import boto3

from murmuration_testkit.processes import all_ready, caught_up, freeze, kill, pause, resume, terminate
from murmuration_testkit.waiting import eventually, remaining, steadily
from murmuration_testkit.worker import Worker

from .company import Company
from .fanouts import AHEAD_S, THRESHOLD, demote, two

FAULTS = int(os.environ.get("FAULTS", "55"))
BETWEEN = (0.5, 2.5)  # seconds from one fault to the next
PAUSED_S = 3
LONG_PAUSE_S = 13  # longer than a session with Kafka
SETTLED = 180.0
NOTICED_S = 8  # until every reader has heard that somebody is a celebrity no longer
STORES = ("cdc-bridge", "kafka", "redis", "dynamodb")


def _faults(first: Worker, second: Worker) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give every kind once in a random order, and again, and so on."""

    def both(number: signal.Signals) -> None:
        first.signal(number)
        second.signal(number)

    def paused(process: str) -> None:
        pause(process)
        time.sleep(PAUSED_S)
        resume(process)

    kinds: list[tuple[str, Callable[[], object]]] = [
        (f"{number.name} {name}", partial(send, number))
        for name, send in (("first worker", first.signal), ("second worker", second.signal), ("both workers", both))
        for number in (signal.SIGKILL, signal.SIGTERM)
    ]
    kinds += [
        (f"SIGSTOP {PAUSED_S} s first worker", partial(freeze, first.signal, PAUSED_S)),
        (f"SIGSTOP {LONG_PAUSE_S} s second worker", partial(freeze, second.signal, LONG_PAUSE_S)),
        (f"SIGSTOP {PAUSED_S} s both workers", partial(freeze, both, PAUSED_S)),
    ]
    for name in STORES:
        kinds += [
            (f"SIGKILL {name}", partial(kill, name)),
            (f"SIGTERM {name}", partial(terminate, name)),
            (f"SIGSTOP {PAUSED_S} s {name}", partial(paused, name)),
        ]
    while True:
        yield from random.sample(kinds, len(kinds))


def timelines() -> dict[str, Any]:
    """Break something every second or two, let the dust settle and compare; then demote a star and compare again."""
    done: Counter[str] = Counter()
    with two() as workers:
        all_ready(SETTLED)
        with Company() as company:
            eventually(lambda: _celebrities(company) != [], True, within=60)
            time.sleep(AHEAD_S)  # from now on the stars' tweets are not pushed
            for number, (name, fault) in enumerate(itertools.islice(_faults(*workers), FAULTS), 1):
                time.sleep(random.uniform(*BETWEEN))
                print(f"    {number}/{FAULTS} {name}", flush=True)
                fault()
                done[name] += 1
        print("    settling", flush=True)
        all_ready(SETTLED)
        differences = _settled(company)
        celebrities = _celebrities(company)
        if not celebrities:
            differences.append("nobody was promoted: this drill proved less than it should")
        differences += [failure for star in company.stars if (failure := _demote(company, star))]
        differences += _settled(company) + company.disorder
        starts = sum(worker.starts for worker in workers)
    return {
        "name": f"timelines after {FAULTS} random faults under load",
        "faults": ", ".join(f"{count} x {name}" for name, count in sorted(done.items())),
        "compared": f"whole timelines of {len(company.people)} people, paged over HTTP, with what was acknowledged; "
        f"again with {len(celebrities)} celebrities demoted; and the order of all pages read meanwhile",
        "differences": differences,
        "counts": f"{', '.join(f'{count} {what}' for what, count in company.done.items())}; {starts} lives of workers; "
        f"{sum(map(len, company.tweets.values()))} tweets left",
    }


def _demote(company: Company, star: Any) -> str | None:
    """Leave the star too few followers for a celebrity, and demote them while they tweet on."""
    fans = [person for person in company.people if star.user_id in company.follows[person.user_id]]
    for fan in fans[THRESHOLD - 2 :]:
        company.unfollow(fan, star)
    company.tweet(star)
    eventually(lambda: star.counts()[0] < THRESHOLD, True, within=60)
    run = demote(star.user_id)
    company.tweet(star)
    return f"demote {star.user_id}: exit {run.returncode}, {run.stderr}" if run.returncode else None


def _celebrities(company: Company) -> list[str]:
    dynamodb = boto3.client("dynamodb")
    keys: list[Any] = [{"user_id": {"S": star.user_id}} for star in company.stars]
    found = [dynamodb.get_item(TableName="users", Key=key, ConsistentRead=True).get("Item", {}) for key in keys]
    return [item["user_id"]["S"] for item in found if "celebrity_since" in item]


def _settled(company: Company) -> list[str]:
    """Return what still differs when all events are delivered, or some while after."""
    caught_up("fanout-worker")
    if found := remaining(company.differences, within=SETTLED / 3):
        return found
    try:
        steadily(company.differences, [], during=NOTICED_S, every=1)
    except AssertionError as error:
        return [str(error)]
    return []


DRILLS = [timelines]
