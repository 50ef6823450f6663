"""The same services on a Redis Cluster: people notice neither a slot that moves nor a master that dies."""

import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event

import pytest
from redis.crc import key_slot

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person
from murmuration_testkit.processes import stopped, waiting_for
from murmuration_testkit.redis_nodes import redis_cluster
from murmuration_testkit.services import PROCESSES
from murmuration_testkit.waiting import eventually

ON_REDIS = ("timeline-service", "fanout-worker")


@contextmanager
def services_on(redis_url):
    """Run those that speak to Redis on this one, in the place of the stack's."""
    with stopped(*ON_REDIS), ExitStack() as running:
        for name in ON_REDIS:
            command = shlex.split(PROCESSES[name].command)
            log = running.enter_context((Path(os.environ["STACK_DIR"]) / f"logs/{name}-cluster.log").open("wb"))
            environment = {**os.environ, **PROCESSES[name].variables(os.environ), "REDIS_URL": redis_url}
            process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log)
            running.callback(process.wait, 40)
            running.callback(process.terminate)
        eventually(lambda: {name: waiting_for(name) for name in ON_REDIS}, {name: [] for name in ON_REDIS}, within=90)
        yield


@pytest.fixture(scope="module")
def cluster():
    with redis_cluster(replicated=True) as cluster, services_on(cluster.url):
        yield cluster


def test_a_slot_moves_and_a_master_dies_and_everyone_sees_everything(cluster):
    """Every read in between is answered; in the end every timeline is what its owner follows."""
    star, *fans = (Person(name).join() for name in ["Star", *["Fan"] * 12])
    for fan in fans:
        fan.follow(star)
        eventually(fan.timeline, [])
    over = Event()

    def say():
        while not over.wait(0.2):
            star.tweet("and another thing")

    def read():
        count = 0
        while not over.is_set():
            count += len([fan.timeline() for fan in fans])
        return count

    key = f"home_timeline:{{{fans[0].user_id}}}"
    with ThreadPoolExecutor(2) as threads:
        jobs = [threads.submit(say), threads.submit(read)]
        try:
            eventually(lambda: bool(fans[0].timeline()), True)
            source = cluster.owner(key)
            assert source.redis.exists(key)
            target, third = (node for node in cluster.masters() if node is not source)
            with cluster.moving(key_slot(key.encode()), source, target, keys=1):
                star.tweet("in the middle of the move")
                eventually(lambda: "in the middle of the move" in fans[0].timeline(200), True)
            cluster.fail_over(third)
            star.tweet("after the death")
            for fan in fans:
                eventually(lambda: "after the death" in fan.timeline(200), True)  # noqa: B023 - called at once
        finally:
            over.set()
        assert jobs[1].result(timeout=60) > len(fans)
        jobs[0].result(timeout=60)
    said = sorted(star.said(), reverse=True)
    for fan in fans:
        eventually(fan.whole_timeline, said)
        assert cluster.owner(f"home_timeline:{{{fan.user_id}}}").redis.exists(f"home_timeline:{{{fan.user_id}}}")
