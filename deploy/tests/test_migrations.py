"""The steps of a migration on DynamoDB, with a table of the test's own that changes in every way."""

import datetime as dt
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import uuid4

import boto3
import pytest
from migrating.dynamo_record import Record
from migrating.dynamo_tables import Tables
from migrating.errors import OrderError, TableError
from migrating.orders import MARK_IS_READ_S, Orders, check_due
from migrating.shapes import look

from contracts.migrations import BACKFILL, CONTRACT, EXPAND, SWITCH, Change, Migration, NotYetError
from contracts.table_files import Attribute, Index, TableFile, load
from contracts.tables import MIGRATIONS
from contracts.topic import DATA

ALL = (EXPAND, BACKFILL, SWITCH, CONTRACT)


def attribute(kind="S"):
    return Attribute(kind, "", (), ())


OLD = TableFile(
    name="houses",
    description="",
    owner="",
    key=("street",),
    attributes={"street": attribute(), "rooms": attribute("N"), "size": attribute("N")},
    access={},
    indexes={"by_rooms": Index(("street", "rooms"), "ALL")},
)
NEW = replace(
    OLD,
    indexes={"by_size": Index(("street", "size"), "ALL"), "by_both": Index(("rooms", "size"), "ALL")},
    stream="NEW_AND_OLD_IMAGES",
)


@dataclass(frozen=True)
class OfThisTest(Migration):
    """A migration whose functions are given to it."""

    functions: tuple[tuple[str, Change], ...] = ()

    def change(self, step):
        return dict(self.functions).get(step)


def sized(row):
    """Give a house its size, which is three times its rooms."""
    return [row if "size" in row else {**row, "size": {"N": str(3 * int(row["rooms"]["N"]))}}]


def roomless(row):
    """Take its rooms away."""
    return [{name: value for name, value in row.items() if name != "rooms"}]


SIZES = OfThisTest("sizes", "", "houses", drops=("by_rooms",), functions=((BACKFILL, sized), (CONTRACT, roomless)))


class Unhurried:
    """A pace for tests."""

    def wait(self):
        """Wait for nothing."""


class Town:
    """Houses in DynamoDB under a prefix of their own."""

    def __init__(self, prefix):
        self.dynamodb, self.prefix, self.name = boto3.client("dynamodb"), prefix, f"{prefix}houses"
        self.record, self.passes, self.slept = Record(self.dynamodb, prefix), [], []

    def orders(self, file, *migrations):
        files = {"houses": file, MIGRATIONS.name: load(DATA)[MIGRATIONS.name]}
        known = {it.name: it for it in migrations}
        tables = Tables(self.dynamodb, self.prefix, time.monotonic() + 30)
        slept = self.slept.append
        return Orders(
            self.dynamodb, self.prefix, files, known, tables, lambda _, so_far, __: self.passes.append(so_far), slept
        )

    def build(self, count):
        for number in range(count):
            self.dynamodb.put_item(
                TableName=self.name, Item={"street": {"S": f"street-{number}"}, "rooms": {"N": str(number)}}
            )

    def rows(self):
        return {
            row["street"]["S"]: row for row in self.dynamodb.scan(TableName=self.name, ConsistentRead=True)["Items"]
        }

    def described(self):
        return self.dynamodb.describe_table(TableName=self.name)["Table"]


@pytest.fixture
def town(own_dynamodb: None) -> Iterator[Town]:
    """Have a town, and delete it afterwards."""
    del own_dynamodb
    town = Town(f"test-{uuid4().hex[:8]}-")
    town.orders(OLD).expand()
    yield town
    pages = town.dynamodb.get_paginator("list_tables").paginate()
    for name in [name for page in pages for name in page["TableNames"] if name.startswith(town.prefix)]:
        town.dynamodb.delete_table(TableName=name)


@pytest.mark.stack(shared=False)
def test_a_table_goes_through_a_whole_migration_and_each_step_twice(town):
    """Two indexes and a stream come, rows change, the switch is thrown, and an index and an attribute go."""
    town.build(3)
    orders, pace = town.orders(NEW, SIZES), Unhurried()
    for _ in range(2):
        orders.expand()
        there = town.described()
        assert {each["IndexName"] for each in there["GlobalSecondaryIndexes"]} == {"by_rooms", "by_size", "by_both"}
        assert there["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        assert town.record.done("sizes").keys() == {EXPAND}
    for _ in range(2):
        orders.backfill("sizes", pace, seen_to=False)
        assert {name: row["size"]["N"] for name, row in town.rows().items()} == {
            f"street-{number}": str(3 * number) for number in range(3)
        }
    assert [done.changed for done in town.passes] == [3, 0, 0]
    for _ in range(2):
        orders.switch("sizes", seen_to=False)
    assert town.record.done("sizes").keys() == {EXPAND, BACKFILL, SWITCH}
    for _ in range(2):
        orders.contract("sizes", pace, seen_to=False)
        assert {each["IndexName"] for each in town.described()["GlobalSecondaryIndexes"]} == {"by_size", "by_both"}
        assert all("rooms" not in row for row in town.rows().values())
    assert town.slept == [MARK_IS_READ_S] * 2
    assert next(orders.plan()) == "table houses: as its file says"
    assert "all is done" in next(orders.status())


@pytest.mark.stack(shared=False)
def test_a_new_table_needs_no_migration(town):
    """Its rows were never of the old way, so everybody goes the new one from the beginning."""
    town.dynamodb.delete_table(TableName=town.name)
    town.orders(NEW, SIZES).expand()
    assert town.record.done("sizes").keys() == {*ALL}


@pytest.mark.stack(shared=False)
def test_a_row_that_cannot_be_changed_yet_is_told_and_the_step_is_not_done(town):
    """The next run finds it again."""
    town.build(3)

    def lived_in(row):
        if row["rooms"] == {"N": "1"}:
            raise NotYetError("somebody lives in it")
        return sized(row)

    steps = replace(SIZES, functions=((BACKFILL, lived_in),))
    orders = town.orders(NEW, steps)
    orders.expand()
    with pytest.raises(OrderError, match="1 rows could not be changed yet, the last one because somebody lives in it"):
        orders.backfill("sizes", Unhurried(), seen_to=False)
    assert town.record.done("sizes").keys() == {EXPAND}
    assert town.record.under_way("sizes") is None
    town.orders(NEW, SIZES).backfill("sizes", Unhurried(), seen_to=False)
    assert town.record.done("sizes").keys() == {EXPAND, BACKFILL}


@pytest.mark.stack(shared=False)
def test_a_stream_that_was_switched_off_is_not_switched_on_in_silence(town):
    """What was written meanwhile left no trace, and the bridge has to tell of it."""
    town.orders(NEW, SIZES).expand()
    town.dynamodb.update_table(TableName=town.name, StreamSpecification={"StreamEnabled": False})
    with pytest.raises(TableError, match="was switched off"):
        town.orders(NEW, SIZES).expand()
    assert any("DIFFERS" in line for line in town.orders(NEW, SIZES).plan())


class TestAFirstStreamThatWaitsForItsSwitch:
    """All who write the rows must have been told something before anybody reads what they write."""

    FILE = replace(OLD, stream="NEW_AND_OLD_IMAGES")
    TOLD = OfThisTest("told", "", "houses", (EXPAND, SWITCH), {SWITCH: "all who build are told"}, switches_stream=True)

    @pytest.mark.stack(shared=False)
    def test_expand_leaves_it_alone_and_switch_turns_it_on_once(self, town):
        """Nobody waits for it until then; the table's other changes come as ever; a second switch changes nothing."""
        town.build(1)
        orders = town.orders(replace(self.FILE, indexes=NEW.indexes), replace(self.TOLD, drops=("by_rooms",)))
        for _ in range(2):
            orders.expand()
            assert "StreamSpecification" not in town.described()
            assert "by_size" in {each["IndexName"] for each in town.described()["GlobalSecondaryIndexes"]}
        assert "switch told turns its stream on" in next(orders.plan())
        assert orders.streams() == {}
        with pytest.raises(OrderError, match="all who build are told"):
            orders.switch("told", seen_to=False)
        assert orders.streams() == {}
        for _ in range(2):
            orders.switch("told", seen_to=True)
            assert town.described()["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
        assert orders.streams() == {"houses": town.described()["LatestStreamArn"]}
        assert "its stream on" not in next(orders.plan())
        assert "all is done" in next(orders.status())

    @pytest.mark.stack(shared=False)
    def test_a_switch_that_was_killed_before_its_mark_is_done_again(self, town):
        """The stream is on already: that is what it should be."""
        orders = town.orders(self.FILE, self.TOLD)
        orders.expand()
        stream = self.FILE.create["StreamSpecification"]
        town.dynamodb.update_table(TableName=town.name, StreamSpecification=stream)
        orders.switch("told", seen_to=True)
        assert town.record.done("told").keys() == {EXPAND, SWITCH}

    @pytest.mark.stack(shared=False)
    def test_a_new_table_has_it_at_once(self, town):
        """None of its writers knows of another way."""
        town.dynamodb.delete_table(TableName=town.name)
        orders = town.orders(self.FILE, self.TOLD)
        orders.expand()
        assert town.record.done("told").keys() == {EXPAND, SWITCH}
        assert [*orders.streams()] == ["houses"]


@pytest.mark.parametrize(
    ("done", "step", "said"),
    [
        ([], BACKFILL, "backfill comes after expand, which is not done: run `python deploy/tables.py expand` first"),
        ([EXPAND], SWITCH, "run `python deploy/tables.py backfill sizes` first"),
        ([EXPAND, BACKFILL], CONTRACT, "run `python deploy/tables.py switch sizes` first"),
        ([EXPAND, BACKFILL], SWITCH, "before switch, see to this: all is new. When it is so, run `python"),
    ],
)
def test_a_step_that_is_not_due_is_refused_with_what_to_do(done, step, said):
    """Out of order, or before somebody has seen to what it needs."""
    migration = replace(SIZES, before={SWITCH: "all is new."})
    with pytest.raises(OrderError) as refused:
        check_due(migration, done, step, seen_to=False)
    assert said in str(refused.value)


def test_a_step_that_was_done_may_be_done_again():
    """An older release may have written the old way since; nobody is asked twice."""
    check_due(replace(SIZES, before={SWITCH: "all is new"}), ALL, SWITCH, seen_to=False)
    check_due(replace(SIZES, before={SWITCH: "all is new"}), ALL[:2], SWITCH, seen_to=True)


def test_an_index_that_no_migration_drops_is_a_difference():
    """Perhaps a newer version of the code added it, or somebody by hand."""
    found = {"TableName": "houses", "TableStatus": "ACTIVE", **OLD.create}
    found["GlobalSecondaryIndexes"] = [each | {"IndexStatus": "ACTIVE"} for each in found["GlobalSecondaryIndexes"]]
    without = replace(OLD, indexes={}).create
    assert look(without, found, ["by_rooms"]).differences == []
    assert look(without, found, ["by_rooms"]).surplus == ["by_rooms"]
    assert "index by_rooms key should be None" in look(without, found).differences[0]


@pytest.mark.parametrize(("label", "faults"), [("2026-11-19T05:00:00.000", 1), ("2026-11-19T04:59:58.000", 0)])
def test_a_stream_of_an_earlier_table_of_that_name_is_not_this_one_s(label, faults):
    """DynamoDB names it for a day."""
    now = dt.datetime(2026, 11, 19, 5, tzinfo=dt.UTC)
    stream = {"LatestStreamArn": f"arn/stream/{label}", "LatestStreamLabel": label, "CreationDateTime": now}
    found = {"TableName": "houses", "TableStatus": "ACTIVE", **replace(NEW, stream=None, indexes={}).create, **stream}
    assert len(look(NEW.create, found).differences) == faults
    assert look(NEW.create, found).streamless
