"""Rows and counts in DynamoDB, on tables of the test's own, and the job on the whole stack."""

import json
import os
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path
from uuid import uuid4

import boto3
import pytest

from contracts.tables import LEASES
from count_aggregator.bridge_progress import BridgeProgress
from count_aggregator.dynamo_accounts import Accounts, Look
from count_aggregator.dynamo_top_accounts import TopAccounts
from murmuration_runtime import dynamo

TABLES = [sys.executable, str(Path(__file__).parents[2] / "deploy/tables.py")]


@pytest.mark.stack
class TestAccounts:
    """One account exactly, or everybody in passing."""

    @pytest.fixture
    def prefix(self):
        prefix = f"test-{uuid4().hex[:8]}-"
        subprocess.run(TABLES, env={**os.environ, "TABLE_PREFIX": prefix}, check=True, capture_output=True)  # noqa: S603 - ours
        yield prefix
        for name in ("users", "followers", "tweets", "leases", "ledgers"):
            boto3.client("dynamodb").delete_table(TableName=prefix + name)

    @pytest.fixture
    def pages(self):
        return count()

    @pytest.fixture
    def accounts(self, prefix, pages):
        return Accounts(dynamo.client(), prefix, lambda: next(pages))

    @pytest.fixture
    def top(self, prefix, pages):
        """The list, with users in three parts."""
        moments = count(1_000_000)
        return TopAccounts(dynamo.client(), prefix, lambda: next(pages), lambda: next(moments), parts=3)

    @pytest.fixture
    def put(self, prefix):
        def write(table, **item):
            typed = {
                name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in item.items()
            }
            boto3.client("dynamodb").put_item(TableName=prefix + table, Item=typed)

        return write

    def test_a_look_has_counts_rows_and_version(self, accounts, put):
        """Of both directions."""
        put("users", user_id="alice", followers_count=5, following_count=1, counts_version=7)
        for fan in ("bob", "carol"):
            put("followers", followee_id="alice", follower_id=fan, followed_at=1)
        put("followers", followee_id="bob", follower_id="alice", followed_at=1)
        assert accounts.look("alice") == Look(5, 1, 7, 2, 1)
        assert accounts.look("alice").drift == (-3, 0)
        assert accounts.look("nobody") == Look(0, 0, 0, 0, 0)

    def test_a_repair_is_for_the_version_that_was_seen(self, accounts, put):
        """Of two repairs one is made; one of a version that is gone never."""
        put("users", user_id="alice", followers_count=5)
        put("followers", followee_id="alice", follower_id="bob", followed_at=1)
        look = accounts.look("alice")
        assert accounts.repair("alice", look)
        assert not accounts.repair("alice", look)
        assert accounts.look("alice") == Look(1, 0, 1, 1, 0)

    def test_a_glance_finds_who_differs_and_who_has_rows_alone(self, accounts, put):
        """Somebody whose events all vanished has no item in users, and is found by their rows."""
        put("users", user_id="right", followers_count=1)
        put("users", user_id="wrong", followers_count=4)
        put("users", user_id="idle", created_at=1)
        put("followers", followee_id="right", follower_id="ghost", followed_at=1)
        assert accounts.suspects() == (4, ["wrong", "ghost"])

    def test_whoever_is_counted_during_a_recount_of_everybody_is_a_suspect(self, accounts, put):
        """An event vanished; a follow that comes and is counted between the scans makes up for it at a glance."""
        put("users", user_id="bob", followers_count=1, counts_version=1)
        for fan in ("alice", "carol"):
            put("followers", followee_id="bob", follower_id=fan, followed_at=1)
            put("users", user_id=fan, following_count=1)

        def follow_and_count():
            put("followers", followee_id="bob", follower_id="dave", followed_at=1)
            put("users", user_id="dave", following_count=1, counts_version=1)
            put("users", user_id="bob", followers_count=2, counts_version=2)

        assert sorted(accounts.suspects(follow_and_count)[1]) == ["bob", "dave"]

    def test_whom_accounts_follow_is_counted_in_the_table(self, accounts, put):
        """For any number of them at once."""
        for followee, follower in (("a", "bob"), ("b", "bob"), ("b", "carol"), ("c", "dave")):
            put("followers", followee_id=followee, follower_id=follower, followed_at=1)
        assert accounts.following({"bob", "carol", "nobody"}) == {"bob": 2, "carol": 1, "nobody": 0}

    def test_the_most_followed_are_found_by_reading_a_part_of_users(self, top, put, pages):
        """The first run reads all parts; later ones that which was read longest ago, and see it as it is now."""
        for number in range(1, 21):
            put("users", user_id=f"u-{number}", followers_count=number)
        assert top.find(3) == ["u-20", "u-19", "u-18"]
        before = next(pages)
        put("users", user_id="u-new", followers_count=99)
        put("users", user_id="u-20", followers_count=0)
        for _ in range(3):
            found = top.find(3)
        assert found == ["u-new", "u-19", "u-18"]
        assert next(pages) - before == 1 + 3

    def test_a_count_below_zero_is_looked_at_however_small_the_account(self, top, put):
        """It is always a bug, and where its part of users is read it shows."""
        put("users", user_id="star", followers_count=9)
        put("users", user_id="odd", followers_count=0, following_count=-1)
        assert top.find(1) == ["star", "odd"]

    def test_every_page_is_asked_for(self, prefix, put, pages):
        """The rate limit counts what DynamoDB answers: a table of more than a megabyte is more than one page."""
        for number in range(5):
            put("users", user_id=f"u-{number}", display_name="x" * 390_000)
        TopAccounts(dynamo.client(), prefix, lambda: next(pages), parts=1).find(1)
        assert next(pages) >= 2

    def test_the_bridge_is_as_far_as_its_stream_that_is_furthest_behind(self, prefix, put):
        """A stream that it does not know is not begun, and one that is ended keeps nobody waiting."""
        bridge, of = BridgeProgress(dynamo.client(), prefix), LEASES.streams_of("followers")
        current = boto3.client("dynamodb").describe_table(TableName=f"{prefix}followers")["Table"]["LatestStreamArn"]
        put("leases", stream_arn=of, shard_id="an older one", state="ended", tip_at=1)
        put("leases", stream_arn=of, shard_id="the one before", state="reading", tip_at=4712)
        assert bridge.published_until() == 0
        put("leases", stream_arn=of, shard_id=current, state="reading", tip_at=4711)
        assert bridge.published_until() == 4711
        put("leases", stream_arn=of, shard_id="the one before", state="gap", tip_at=7)
        assert bridge.published_until() == 7

    def test_what_the_bridge_owes_is_read_and_settled(self, prefix, put):
        """Only what was read: another may have come meanwhile."""
        bridge = BridgeProgress(dynamo.client(), prefix)
        put("leases", stream_arn=LEASES.recounts(), shard_id="shard at 1", state="gap", gap="trimmed", since=1)
        owed = bridge.owed()
        assert owed == {"shard at 1": "trimmed"}
        put("leases", stream_arn=LEASES.recounts(), shard_id="shard at 2", state="gap", gap="again", since=2)
        bridge.settle(owed)
        bridge.settle(owed)
        assert bridge.owed() == {"shard at 2": "again"}


@pytest.mark.stack
def test_corrupted_counts_are_repaired_while_follows_keep_coming(somebody):
    """The job on the real bridge, topic and aggregator: drift goes, and what comes meanwhile is counted once."""
    dynamodb, prefix = boto3.client("dynamodb"), os.environ.get("TABLE_PREFIX", "")
    star, wrong, right = somebody(), somebody(), somebody()
    over = threading.Event()
    follows = count()

    def go_on():
        """Everybody is followed for a while, one of them all the time."""
        for number in follows:
            whom = [star] if number > 60 else [star, wrong, right]
            for followee in whom:
                key = {"followee_id": {"S": followee}, "follower_id": {"S": somebody()}}
                dynamodb.put_item(TableName=f"{prefix}followers", Item={**key, "followed_at": {"N": "1"}})
            if number == 30:
                corrupt(wrong, 1000)
            # DynamoDB Local rounds a record's time down to the minute: a pause shows sooner that all is published.
            if over.wait(0.05 if (number + 1) % 100 else 7):
                return

    def corrupt(user, by):
        dynamodb.update_item(
            TableName=f"{prefix}users",
            Key={"user_id": {"S": user}},
            UpdateExpression="ADD followers_count :by, following_count :by",
            ExpressionAttributeValues={":by": {"N": str(by)}},
        )

    def look(user):
        return Accounts(dynamo.client(), prefix, lambda: None).look(user)

    def reconcile(*users):
        command = [sys.executable, "-m", "count_aggregator", "reconcile", "--apart", "1", "--user", *users]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - ours
        return run.returncode, json.loads(run.stdout)

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        time_limit = time.monotonic() + 30
        while look(wrong).followers < 40 and time.monotonic() < time_limit:
            over.wait(0.1)
        code, summary = reconcile(wrong, right)
    finally:
        over.set()
        writer.join()
    assert (code, summary["drifted"], summary["repaired"], summary["users"]) == (0, 1, 1, [wrong])
    code, summary = reconcile(star, wrong, right)
    assert (code, summary["checked"], summary["drifted"]) == (0, 3, 0)
    assert [look(user).drift for user in (star, wrong, right)] == [(0, 0)] * 3
