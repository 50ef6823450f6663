"""Tables restored to an earlier moment, as docs/operations.md says it, while people go on afterwards.

DynamoDB restores to a new table, without stream and expiry, and no table can be renamed: here what the tables held at
moment is put into new ones of the old names, with their indexes and nothing else. Then the commands of the runbook.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from typing import Any

import boto3
from redis import Redis

from contracts.table_files import load
from contracts.tables import FOLLOWERS, TWEETS
from contracts.topic import DATA
from murmuration_testkit import REPOSITORY
from murmuration_testkit.crowd import Crowd
from murmuration_testkit.people import Person
from murmuration_testkit.processes import caught_up, stopped
from murmuration_testkit.waiting import eventually, remaining

RESTORED = (FOLLOWERS.name, TWEETS.name)
EDGES = ("follow-service", "tweet-service", "tweet-eraser", "follow-finisher", "timeline-service")
PEOPLE = 24
THREADS = 6
LIVE_S = 15.0
WITHIN_S = 300.0
BATCH = 25
TABLES = [sys.executable, "deploy/tables.py"]
BRIDGE = [sys.executable, "-m", "cdc_bridge"]
Rows = dict[str, list[dict[str, Any]]]


def restore() -> dict[str, Any]:
    """Live, remember a moment, live on and do harm, go back to the moment by the runbook, live on, and compare."""
    dynamodb = boto3.client("dynamodb")
    crowd = Crowd(PEOPLE, Person.insist)
    acts = _live(crowd)
    moment = {name: [*_rows(dynamodb, name)] for name in RESTORED}
    then = deepcopy((crowd.tweets, crowd.unanswered, dict(crowd.following)))
    acts += _live(crowd)
    _harm(dynamodb)
    before = {name: len([*_rows(dynamodb, name)]) for name in RESTORED}

    began = time.monotonic()
    with stopped(*EDGES):  # 1
        for group in ("count-aggregator", "fanout-worker"):
            caught_up(group)
        arns = [_restored(dynamodb, name, moment) for name in RESTORED]  # 2
        print(_run(*TABLES, "expand"), flush=True)  # 3
        with Redis.from_url(os.environ["REDIS_URL"]) as redis:  # 4
            redis.flushall()
        new = [str(dynamodb.describe_table(TableName=name)["Table"]["LatestStreamArn"]) for name in RESTORED]
        eventually(lambda: all(_is_gap(arn) for arn in new), expected=True, within=WITHIN_S, every=2)  # 5
        for arn in new:
            print(_run(*BRIDGE, "clear", arn), flush=True)
    crowd.tweets, crowd.unanswered, following = then  # 6: what came after the moment never was
    crowd.following.clear()
    crowd.following.update(following)
    away_s = time.monotonic() - began
    acts += _live(crowd)
    print(_run(*TABLES, "adopt"), flush=True)  # 7
    took_s = time.monotonic() - began
    differences = remaining(crowd.differences, within=WITHIN_S, every=2)
    differences += [f"{arn} is the stream of before" for arn in new if arn in arns]
    if not any(before[name] != len(moment[name]) for name in RESTORED):
        differences.append("nothing was lost, so nothing is shown")
    return {
        "name": f"{' and '.join(RESTORED)} restored to an earlier moment",
        "faults": f"{LIVE_S:.0f} s of writes and the loss of every other row, undone",
        "compared": "edges and tweets with those of the moment and what was answered since; everybody's counts and "
        "timelines with the rows",
        "differences": differences,
        "counts": f"{ {name: (before[name], len(moment[name])) for name in RESTORED} } rows before and after; "
        f"edges away for {away_s:.0f} s, all proved after {took_s:.0f} s; {acts} requests",
    }


def _live(crowd: Crowd) -> int:
    """Have people do what people do for a while, each person's doings one after the other."""
    until = time.monotonic() + LIVE_S

    def act(number: int) -> int:
        acts = (crowd.follow, crowd.follow, crowd.unfollow, crowd.tweet, crowd.tweet, crowd.delete, crowd.read)
        mine, done = crowd.people[number::THREADS], 0
        while time.monotonic() < until:
            random.choice(acts)(random.choice(mine))
            done += 1
        return done

    with ThreadPoolExecutor(THREADS) as threads:
        return sum(threads.map(act, range(THREADS)))


def _harm(dynamodb: Any) -> None:
    """Do what a restore is for: a script that deletes every other row of the tables."""
    for name in RESTORED:
        key = load(DATA)[name].key
        for row in [*_rows(dynamodb, name)][::2]:
            dynamodb.delete_item(TableName=name, Key={part: row[part] for part in key})


def _restored(dynamodb: Any, name: str, moment: Rows) -> str:
    """Have a table of this name as it was; return the old stream's ARN."""
    old = str(dynamodb.describe_table(TableName=name)["Table"]["LatestStreamArn"])
    dynamodb.delete_table(TableName=name)
    bare = replace(load(DATA)[name], stream=None, expires=None)
    dynamodb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **bare.create)
    rows = moment[name]
    for start in range(0, len(rows), BATCH):
        puts: Any = [{"PutRequest": {"Item": row}} for row in rows[start : start + BATCH]]
        dynamodb.batch_write_item(RequestItems={name: puts})
    return old


def _rows(dynamodb: Any, name: str) -> Iterator[dict[str, Any]]:
    for page in dynamodb.get_paginator("scan").paginate(TableName=name, ConsistentRead=True):
        yield from page["Items"]


def _is_gap(arn: str) -> bool:
    return any(arn in line and "GAP" in line for line in _run(*BRIDGE, "shards").splitlines())


def _run(*command: str) -> str:
    return subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True).stdout


PROOFS = [restore]
