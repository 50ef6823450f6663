"""The migration live-tweets, by deploy/tables.py, on a table with a past, while old and new releases write."""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from contracts.migrations import live_tweets
from contracts.tables import MIGRATIONS
from murmuration_runtime.dynamo import client
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.migration_switch import LOOK_S, MigrationSwitch
from murmuration_testkit import REPOSITORY
from murmuration_testkit.dynamodb_local import dynamodb_local
from murmuration_testkit.waiting import eventually
from tweet_service.dynamo_tweets import DynamoTweets
from tweet_service.tweets import TakenIdError, Tweet

from .past import FILE as NEW
from .past import OLD, with_a_past

PREFIX = "past-"
TABLE = f"{PREFIX}tweets"
AUTHORS = ("ann", "bob", "cem")
ROWS = 400


class World:
    """The table, one process of each release on it, and what is to be listed of whom."""

    def __init__(self):
        self.dynamodb, self.now = client(), 0.0
        self.ids = itertools.count(10**18)
        switch = MigrationSwitch(self.dynamodb, PREFIX, MIGRATIONS.LIVE_TWEETS, lambda: self.now)
        self.new = DynamoTweets(self.dynamodb, PREFIX, switch)
        self.live = {author: [] for author in AUTHORS}
        self.written = 0

    def post_as_before(self, author):
        tweet_id = str(next(self.ids))
        row = {"tweet_id": {"S": tweet_id}, "author_id": {"S": author}, "text": {"S": "old"}, "created_at": {"N": "1"}}
        self.dynamodb.put_item(TableName=TABLE, Item=row)
        self.live[author].append(tweet_id)

    def delete_as_before(self, tweet_id):
        self.dynamodb.update_item(
            TableName=TABLE,
            Key={"tweet_id": {"S": tweet_id}},
            UpdateExpression="SET deleted_at = :now",
            ConditionExpression="attribute_exists(tweet_id) AND attribute_not_exists(deleted_at)",
            ExpressionAttributeValues={":now": {"N": "2"}},
        )

    def post(self, author):
        tweet = Tweet(str(next(self.ids)), author, "new", 1)
        insist(self.new.add, tweet)
        self.live[author].append(tweet.tweet_id)

    def delete(self, tweet_id):
        insist(self.new.delete, tweet_id, 2)

    def write(self, author, *, as_before):
        """Post or delete once, by one of the releases."""
        mine = self.live[author]
        if mine and random.random() < 0.5:
            gone = mine.pop(random.randrange(len(mine)))
            (self.delete_as_before if as_before else self.delete)(gone)
        else:
            (self.post_as_before if as_before else self.post)(author)
        self.written += 1

    def listed(self, author):
        found, cursor = [], None
        while True:
            page = self.new.by_author(author, 7, cursor)
            found += [tweet.tweet_id for tweet in page.tweets]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def expected(self, author):
        return sorted(self.live[author], reverse=True)

    def rows(self):
        return [row for page in self.dynamodb.get_paginator("scan").paginate(TableName=TABLE) for row in page["Items"]]

    def indexes(self):
        found = self.dynamodb.describe_table(TableName=TABLE)["Table"]["GlobalSecondaryIndexes"]
        return {each["IndexName"] for each in found}


def insist(act, *arguments):
    """Try again as clients do: while an index is dropped, DynamoDB Local now and then fails, and may have written."""

    def done():
        try:
            act(*arguments)
        except StoreAwayError:
            return False
        except TakenIdError:
            pass
        return True

    eventually(done, expected=True, within=60)


@pytest.fixture
def world():
    with dynamodb_local(in_memory=True) as store, pytest.MonkeyPatch.context() as environment:
        for name, value in store.environment.items():
            environment.setenv(name, value)
        client().create_table(TableName=TABLE, BillingMode="PAY_PER_REQUEST", **OLD.create)
        yield World()


def tables(*words):
    """Begin one step of deploy/tables.py."""
    command = [sys.executable, str(REPOSITORY / "deploy/tables.py"), *words]
    return subprocess.Popen(  # noqa: S603 - our own command
        command, env={**os.environ, "TABLE_PREFIX": PREFIX}, stdout=subprocess.DEVNULL
    )


def step(*words):
    assert tables(*words).wait() == 0


@contextmanager
def writers(world, *, as_before):
    """Write on and on for as long as the context lasts; some of it as the release before does, if it still runs."""
    over, faults = threading.Event(), []

    def write():
        try:
            while not over.is_set():
                world.write(random.choice(AUTHORS[1:]), as_before=as_before and random.random() < 0.5)
        except Exception as error:  # noqa: BLE001 - told below
            faults.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not faults


def wait_for_writes(world, count=50):
    goal = world.written + count
    eventually(lambda: world.written >= goal, expected=True, within=60)


@pytest.mark.stack
def test_lists_are_whole_in_every_step_and_in_the_end_nothing_is_left_of_the_deleted(world):
    """Also where the backfill is killed and goes on, and the older release writes until just before the switch."""
    for _, author in zip(range(ROWS), itertools.cycle(AUTHORS), strict=False):
        world.post_as_before(author)
    for author in AUTHORS:
        for tweet_id in world.live[author][::3]:
            world.delete_as_before(tweet_id)
        del world.live[author][::3]
    step("expand")
    assert world.indexes() == {"by_author", "by_live_author"}
    key = {"migration": {"S": MIGRATIONS.LIVE_TWEETS}}

    def row():
        return world.dynamodb.get_item(TableName=f"{PREFIX}migrations", Key=key, ConsistentRead=True)["Item"]

    with writers(world, as_before=True):
        backfill = tables("backfill", MIGRATIONS.LIVE_TWEETS, "--yes", "--rate", "200")
        eventually(lambda: "cursor" in row(), expected=True, within=60)
        backfill.kill()
        backfill.wait()
        assert json.loads(row()["cursor"]["S"])
        assert "backfilled_at" not in row()
        assert world.listed("ann") == world.expected("ann")
        wait_for_writes(world)
    with writers(world, as_before=False):  # the last old process has ended
        step("backfill", MIGRATIONS.LIVE_TWEETS, "--yes", "--rate", "2000")
        assert world.listed("ann") == world.expected("ann")
        step("switch", MIGRATIONS.LIVE_TWEETS, "--yes")
        world.now += LOOK_S
        assert world.listed("ann") == world.expected("ann")
        wait_for_writes(world)
    for author in AUTHORS:
        assert world.listed(author) == world.expected(author)
    rows = world.rows()
    assert [row for row in rows if ("live_author_id" in row) == ("deleted_at" in row)] == []
    assert any("deleted_at" in row and "text" in row for row in rows)
    with writers(world, as_before=False):
        step("contract", MIGRATIONS.LIVE_TWEETS, "--yes", "--rate", "2000")
    assert world.indexes() == {"by_live_author"}
    assert [row for row in world.rows() if ("text" in row) == ("deleted_at" in row)] == []
    for author in AUTHORS:
        assert world.listed(author) == world.expected(author)


def test_a_page_goes_on_behind_the_switch():
    """Its cursor is a tweet's id; what an older release deleted after the backfill, by mistake, does not show."""
    aws, now = with_a_past(), [0.0]
    switch = MigrationSwitch(aws.client(), "", MIGRATIONS.LIVE_TWEETS, lambda: now[0])
    store = DynamoTweets(aws.client(), "", switch)
    said = [str(10**18 + n) for n in range(30)]
    for n, tweet_id in enumerate(said):
        row = {"tweet_id": {"S": tweet_id}, "author_id": {"S": "ann"}, "text": {"S": "old"}, "created_at": {"N": "1"}}
        aws.put("tweets", row | ({"deleted_at": {"N": "2"}} if n % 3 == 0 else {}))
    live = [tweet_id for n, tweet_id in reversed([*enumerate(said)]) if n % 3]
    first = store.by_author("ann", 5, None)
    assert [tweet.tweet_id for tweet in first.tweets] == live[:5]
    (index,) = NEW.create["GlobalSecondaryIndexes"]
    aws.tables["tweets"].kinds["live_author_id"] = "S"
    aws.tables["tweets"].add_index(index, aws.now)
    for row in [*aws.items("tweets")]:
        (changed,) = live_tweets.backfill(row)
        aws.put("tweets", changed)
    by_mistake = next(row for row in aws.items("tweets") if row["tweet_id"]["S"] == live[7])
    aws.put("tweets", by_mistake | {"deleted_at": {"N": "3"}})
    aws.put("migrations", {"migration": {"S": MIGRATIONS.LIVE_TWEETS}, "switched_at": {"N": "1"}})
    now[0] += LOOK_S
    assert switch()
    del aws.tables["tweets"].indexes["by_author"]
    rest = store.by_author("ann", 100, first.next_cursor)
    assert [tweet.tweet_id for tweet in rest.tweets] == [*live[5:7], *live[8:]]
    assert store.undeleted("ann", None) == ([*live[:7], *live[8:]], None)


@pytest.mark.stack
def test_before_the_switch_a_deleted_tweet_keeps_its_text_for_older_releases(world):
    """They fail on a row without one; contract takes it later."""
    step("expand")
    world.post("ann")
    (tweet_id,) = world.live["ann"]
    world.delete(tweet_id)
    (row,) = world.rows()
    assert (row["text"], "deleted_at" in row, "live_author_id" in row) == ({"S": "new"}, True, False)
