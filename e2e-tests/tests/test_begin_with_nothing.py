"""A team that begins with nothing while people follow and unfollow: a snapshot and the topic give the table's edges."""

import json
import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from contracts.tables import FOLLOWERS
from murmuration_runtime import dynamo
from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, RefusedError
from murmuration_testkit.readers import stock_python
from murmuration_testkit.topics import Tap
from murmuration_testkit.waiting import eventually

CLIENT = REPOSITORY / "schemas/clients/python"
EXPORT = [sys.executable, "-m", "cdc_bridge", "export"]
RATE = "300"  # rows a second, so that it takes some seconds


@pytest.fixture
def people():
    """People who follow and unfollow each other all the time, until stop is called."""
    crowd = [Person(f"Person {number}").join() for number in range(5)]
    stopped = threading.Event()

    def live() -> None:
        chance = random.Random(7)
        while not stopped.is_set():
            one, other = chance.sample(crowd, 2)
            with suppress(RefusedError):  # on a busy machine; the table says what was done
                chance.choice([one.follow, one.unfollow])(other)

    life = threading.Thread(target=live)
    life.start()

    def stop() -> list[Person]:
        stopped.set()
        life.join()
        return crowd

    yield stop
    stop()


def edges() -> set[tuple[str, str]]:
    """Return who follows whom by the table."""
    pages = dynamo.client().get_paginator("scan").paginate(TableName=FOLLOWERS.name, ConsistentRead=True)
    return {
        (row[FOLLOWERS.follower_id]["S"], row[FOLLOWERS.followee_id]["S"]) for page in pages for row in page["Items"]
    }


def all_told(crowd: list[Person], tap: Tap) -> None:
    """Return when whatever was committed by now is told: a new edge is told after it, a second in a later page."""
    for _ in range(2):
        last = Person("Last").join()
        last.follow(crowd[0])
        told = ("follower_id", last.user_id.encode())
        eventually(lambda told=told: any(told in message.headers() for message in tap.read(0.2)), within=60)


def test_a_snapshot_under_live_writes_and_the_topic_give_the_edges_of_the_table(people, tmp_path):
    """The export is killed in its middle and goes on; the consumer begins while everybody still lives."""
    directory, program = tmp_path / "export", stock_python(CLIENT / "requirements.txt", tmp_path)
    tap = Tap("FollowChanged")
    first = subprocess.Popen([*EXPORT, str(directory), "--rate", RATE], stdout=subprocess.DEVNULL)
    eventually((directory / "progress.json").exists, within=60)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (directory / "manifest.json").exists()
    places = json.loads((directory / "progress.json").read_text())["places"]
    done = subprocess.run([*EXPORT, str(directory), "--rate", RATE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["places"] == places  # those of the run that was killed, before the first row was read
    command = [*program, str(CLIENT / "who_follows_whom.py"), str(directory)]
    consumer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    all_told(people(), tap)
    told, _ = consumer.communicate("", timeout=120)
    tap.close()
    assert consumer.returncode == 0
    assert {tuple(json.loads(line)) for line in told.splitlines()} == edges()
