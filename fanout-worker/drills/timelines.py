"""Two fan-out workers, bridge, Kafka, DynamoDB and Redis broken at random under load; then all timelines must be right.

Two processes serve the timelines, from a cluster of Redis of three masters with replicas, which evicts now and then.
Bridge and stores hang for 5 to 60 s, and no request may take longer than its deadline and a second of slack.
FAULTS in the environment says how many faults; 55 unless set.
"""

import itertools
import os
import random
import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest.mock import patch

import boto3

from murmuration_testkit import REPOSITORY
from murmuration_testkit.hangs import REQUEST_S, SLACK_S
from murmuration_testkit.processes import all_ready, caught_up, freeze, kill, pause, resume, terminate
from murmuration_testkit.redis_nodes import AS_IN_OPERATIONS, Cluster, redis_cluster
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually, remaining, steadily
from murmuration_testkit.worker import Worker

from .company import Company
from .fanouts import AHEAD_S, THRESHOLD, demote, reader, two
from .redis_faults import redis_faults

FAULTS = int(os.environ.get("FAULTS", "55"))
BETWEEN = (0.5, 2.5)  # seconds from the end of one fault to the next
PAUSED_S = 3
LONG_PAUSE_S = 13  # longer than a session with Kafka
HUNG_S = (5.0, 60.0)  # more often short than long
SETTLED = 180.0
NOTICED_S = 8  # until every reader has heard that somebody is a celebrity no longer


def _faults(first: Worker, second: Worker, cluster: Cluster) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give every kind once in a random order, then again in another one, for ever."""

    def both(number: signal.Signals) -> None:
        first.signal(number)
        second.signal(number)

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
    for name in ("cdc-bridge", "kafka", "dynamodb"):
        kinds += [(f"SIGKILL {name}", partial(kill, name)), (f"SIGTERM {name}", partial(terminate, name))]
    kinds += [(f"SIGSTOP of {name}", partial(_hang, name)) for name in ("cdc-bridge", "kafka", "dynamodb")]
    kinds += redis_faults(cluster, _sleep)
    while True:
        yield from random.sample(kinds, len(kinds))


def _sleep() -> None:
    low, high = HUNG_S
    time.sleep(low * (high / low) ** random.random())


def _hang(process: str) -> None:
    pause(process)
    _sleep()
    resume(process)


def timelines() -> dict[str, Any]:
    """Break one thing after the other, let the dust settle and compare; then demote the stars and compare again."""
    done: Counter[str] = Counter()
    with ExitStack() as stack:
        cluster = stack.enter_context(redis_cluster(3, replicated=True, settings=AS_IN_OPERATIONS))
        stack.enter_context(patch.dict(os.environ, REDIS_URL=cluster.url))
        workers = stack.enter_context(two())
        command = shlex.split(PROCESSES["timeline-service"].command)
        readers = [stack.enter_context(reader(name, command, REPOSITORY)) for name in ("first", "second")]
        all_ready(SETTLED)
        with Company(readers) as company:
            eventually(lambda: _celebrities(company) != [], True, within=60)
            time.sleep(AHEAD_S)  # from now on the stars' tweets are not pushed
            for number, (name, fault) in enumerate(itertools.islice(_faults(*workers, cluster), FAULTS), 1):
                time.sleep(random.uniform(*BETWEEN))
                print(f"    {number}/{FAULTS} {name}", flush=True)
                fault()
                done[name] += 1
        print("    settling", flush=True)
        all_ready(SETTLED)
        differences = _settled(company, readers)
        celebrities = _celebrities(company)
        if not celebrities:
            differences.append("nobody was promoted: this drill proved less than it should")
        differences += [failure for star in company.stars if (failure := _demote(company, star))]
        differences += _settled(company, readers) + company.disorder
        if company.slowest > REQUEST_S + SLACK_S:
            differences.append(f"a request took {company.slowest:.1f} s, not {REQUEST_S + SLACK_S:.0f} s at most")
        starts = sum(worker.starts for worker in workers)
        evicted = sum(node.redis.info("stats")["evicted_keys"] for node in cluster.nodes)
    return {
        "name": f"timelines after {FAULTS} random faults under load",
        "faults": ", ".join(f"{count} x {name}" for name, count in sorted(done.items())),
        "compared": f"whole timelines of {len(company.people)} people, paged from each of two processes, with what was "
        "acknowledged; again with the stars demoted; the order of all pages read meanwhile; and "
        "how long each request took with its deadline",
        "differences": differences,
        "counts": f"{', '.join(f'{count} {what}' for what, count in company.done.items())}; {starts} worker starts; "
        f"{evicted} keys evicted; the slowest request {company.slowest:.2f} s; "
        f"{sum(map(len, company.tweets.values()))} tweets left",
    }


def _demote(company: Company, star: Any) -> str | None:
    """Leave the star too few followers for a celebrity, and demote them between two of their tweets."""
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


def _settled(company: Company, readers: Sequence[str]) -> list[str]:
    """Return what still differs a minute after the workers caught up, or differs again in the seconds after that."""

    def differences() -> list[str]:
        return [difference for each in readers for difference in company.differences(each)]

    caught_up("fanout-worker")
    if found := remaining(differences, within=SETTLED / 3):
        return found
    try:
        steadily(differences, [], during=NOTICED_S, every=1)
    except AssertionError as error:
        return [str(error)]
    return []


DRILLS = [timelines]
