"""A pass over the rows on an AWS that throttles, loses answers and lets others write in between; and that is killed."""

from collections import Counter
from random import Random

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from hypothesis import given, settings
from hypothesis import strategies as st
from migrating.dynamo_record import Pass, Record
from migrating.errors import MigrationError
from migrating.sweep import Sweep
from migrating.writes import writes

from contracts.migrations import spread_leases
from contracts.table_files import load
from contracts.tables import LEASES, USERS
from contracts.topic import DATA
from murmuration_testkit.unkind_aws import EVERYTHING, UnkindAws, Unkindness

ARN = "arn:aws:dynamodb:eu-central-1:1:table/followers/stream/2026-11-19T00:00:00.000"
FILES = load(DATA)
MIGRATED = 1000
ROWS = 12
UNKIND = {
    **EVERYTHING,
    Unkindness.INTERLEAVING: 0.3,
    Unkindness.TORN_READ: 0.3,
    Unkindness.LOST_ANSWER: 0.1,
    Unkindness.LATE_WRITE: 0.1,
}
HAPPENS = {
    Unkindness.INTERLEAVING,
    Unkindness.TORN_READ,
    Unkindness.LOST_ANSWER,
    Unkindness.LATE_WRITE,
    Unkindness.THROTTLING,
    Unkindness.CONFLICT,
    Unkindness.SHORT_PAGE,
    Unkindness.HANG,
    Unkindness.REPEATED_WRITE,
}
kills = st.lists(st.integers(0, 60), max_size=4)
occurred: Counter[Unkindness] = Counter()


class KilledError(Exception):
    """A kill -9, somewhere."""


class Unhurried:
    """A pace for tests."""

    def wait(self):
        """Wait for nothing."""


def one_pass(aws, file, looked, function, killed_after):
    """Do a pass to its end, or until its function has been called so often."""
    dynamodb, calls = aws.client("dynamodb"), 0
    record = Record(dynamodb, "")

    def change(row):
        nonlocal calls
        calls += 1
        if calls > killed_after:
            raise KilledError
        return function(row)

    sweep = Sweep(dynamodb, file.name, file.key, looked, change, Unhurried(), aws.sleep, aws.time)
    so_far = record.under_way("test") or Pass()
    while True:
        so_far = sweep.page(so_far)
        record.save("test", so_far)
        if so_far.cursor is None:
            return so_far


def to_the_end(aws, file, looked, function, deaths):
    """Run it again, as an operator does, until a pass had nothing to change."""
    lives = [*deaths, *[10**6] * 300]
    for killed_after in lives:
        try:
            done = one_pass(aws, file, looked, function, killed_after)
        except (KilledError, ClientError, BotoCoreError):
            continue
        if not done.changed and not done.left:
            occurred.update(aws.occurred)
            return
    raise AssertionError("it never came to its end")


class People:
    """Accounts whose counts others move, that are deleted, and that come anew as the migration wants them."""

    def __init__(self, aws):
        self.random, self.dynamodb = Random(aws.random.random()), aws.client("dynamodb")
        self.moved = {f"user-{number}": 0 for number in range(ROWS)}
        self.old = set(self.moved)
        with aws.kind():
            for user in self.moved:
                self.dynamodb.put_item(TableName="users", Item=self.row(user))

    def row(self, user):
        return {"user_id": {"S": user}, "following_count": {"N": "0"}, "display_name": {"S": "Ann"}}

    def act(self, _):
        """Do one thing, answered for sure: the unkindness is for the migration."""
        user = self.random.choice([*self.moved, f"user-{self.random.randrange(2 * ROWS)}"])
        if user not in self.moved:
            row = {**self.row(user), "celebrity_since": {"S": "0"}}
            self.ask("put_item", Item=row) and self.moved.update({user: 0})
        elif self.random.random() < 0.05:
            if self.ask("delete_item", Key={"user_id": {"S": user}}):
                del self.moved[user]
                self.old.discard(user)
        else:
            add = {"UpdateExpression": "ADD following_count :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
            if self.ask("update_item", Key={"user_id": {"S": user}}, **add):
                self.moved[user] += 1

    def ask(self, operation, **words):
        try:
            getattr(self.dynamodb, operation)(TableName="users", **words)
        except ClientError:  # a transaction holds it
            return False
        return True


def counted_once(row):
    """Add 1,000 to whoever has not had them; twice would show."""
    if "celebrity_since" in row:
        return [row]
    count = int(row["following_count"]["N"]) + MIGRATED
    return [{**row, "celebrity_since": {"S": "0"}, "following_count": {"N": str(count)}}]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), deaths=kills)
def test_every_row_is_changed_once_and_nobody_s_write_is_lost(seed, deaths):
    """Whatever others write meanwhile stays, who is deleted stays so, and whoever comes is left as he came."""
    aws = UnkindAws(seed, UNKIND)
    people = People(aws)
    aws.meanwhile = lambda where: _kindly(aws, people.act, where)
    looked = (USERS.following_count, USERS.celebrity_since)
    to_the_end(aws, FILES["users"], looked, counted_once, deaths)
    aws.sleep(60)
    found = {row["user_id"]["S"]: int(row["following_count"]["N"]) for row in aws.tables["users"].items()}
    assert found == {user: moved + MIGRATED * (user in people.old) for user, moved in people.moved.items()}


def _kindly(aws, act, where):
    with aws.kind():
        act(where)


class Bridges:
    """Bridges that checkpoint, take and give back shards meanwhile, each row where it lies at that moment."""

    def __init__(self, aws):
        self.random, self.dynamodb, self.table = (
            Random(aws.random.random()),
            aws.client("dynamodb"),
            aws.tables["leases"],
        )
        self.positions = {f"shard-{number}": 0 for number in range(ROWS)}
        with aws.kind():
            for shard in self.positions:
                row = {LEASES.stream_arn: {"S": ARN}, LEASES.shard_id: {"S": shard}}
                self.dynamodb.put_item(TableName="leases", Item={**row, "epoch": {"N": "0"}, "position": {"S": "0"}})

    def rows(self, shard):
        found = [row for row in self.table.items() if row["shard_id"]["S"] == shard]
        return [row for row in found if not row.get("owner", {}).get("S", "").startswith(LEASES.moved_to(""))]

    def act(self, _):
        shard = self.random.choice([*self.positions])
        rows = self.rows(shard)
        if len(rows) != 1:  # in the midst of a transaction, which shows its writes one by one
            return
        epoch, position = int(rows[0]["epoch"]["N"]), self.positions[shard] + 1
        row = {**rows[0], "position": {"S": str(position)}, "epoch": {"N": str(epoch + 1)}}
        row.pop("owner", None)
        if self.random.random() < 0.3:
            row["owner"] = {"S": "bridge-1"}
        same = {"ConditionExpression": "epoch = :epoch", "ExpressionAttributeValues": {":epoch": {"N": str(epoch)}}}
        try:
            self.dynamodb.put_item(TableName="leases", Item=row, **same)
        except ClientError:
            return
        self.positions[shard] = position


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), deaths=kills)
def test_every_lease_moves_and_no_position_goes_back(seed, deaths):
    """A shard has one row at any time, and what a bridge wrote last is in it."""
    aws = UnkindAws(seed, UNKIND)
    bridges = Bridges(aws)
    aws.meanwhile = lambda where: _kindly(aws, bridges.act, where)
    looked = tuple(name for name in FILES["leases"].attributes if name not in FILES["leases"].key)
    to_the_end(aws, FILES["leases"], looked, spread_leases.backfill, deaths)
    aws.sleep(60)
    for shard, position in bridges.positions.items():
        (row,) = bridges.rows(shard)
        assert (row["stream_arn"]["S"], row["position"]["S"]) == (LEASES.part_of(ARN, shard), str(position))
    to_the_end(aws, FILES["leases"], looked, spread_leases.contract, deaths)
    assert len(list(aws.tables["leases"].items())) == ROWS


def test_each_unkindness_really_occurred():
    """Otherwise the two above would prove nothing."""
    if not occurred:
        pytest.fail("run this file as a whole")
    assert not HAPPENS - {*occurred}


def test_a_function_may_change_only_what_it_looks_at_and_copies_nothing():
    """Else another's write could be lost, or each pass would copy again."""
    row = {"user_id": {"S": "a"}, "display_name": {"S": "Ann"}}
    with pytest.raises(MigrationError, match="changes display_name"):
        writes(row, [{**row, "display_name": {"S": "Bob"}}], ("user_id",), ("following_count",))
    with pytest.raises(MigrationError, match="again and again"):
        writes(row, [row, {**row, "user_id": {"S": "b"}}], ("user_id",), ("display_name",))
