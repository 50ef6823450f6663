"""A list that lies in parts is one list: newest first, nobody twice, nobody passed over."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts.migrations import spread_followers
from contracts.tables import FOLLOWERS, MIGRATIONS
from follow_service.dynamo_graph import dynamo_graph
from follow_service.dynamo_lists import DynamoLists
from follow_service.dynamo_parts import side_by_side
from follow_service.lists import Listed, Row
from follow_service.parts import Part, newest, share
from murmuration_runtime.migration_switch import LOOK_S, MigrationSwitch
from murmuration_testkit.unkind_aws import UnkindAws, Unkindness

from .rows import follow

PARTS = 3
MOMENTS = st.lists(st.integers(0, 6), max_size=30)


class Source:
    """Parts in memory, each newest first, which give a few rows at once."""

    def __init__(self, lists, at_once):
        self.lists, self.at_once, self.asked = lists, at_once, 0

    def parts(self):
        return [Part(number, 0) for number in range(len(self.lists))]

    def read(self, parts, most):
        for part in parts:
            self.asked += 1
            rows = self.lists[part.number][part.rest : part.rest + min(most, self.at_once)]
            part.rows += rows
            behind = part.rest + len(rows)
            part.rest = behind if behind < len(self.lists[part.number]) else None


@given(st.lists(MOMENTS, min_size=PARTS, max_size=PARTS), st.integers(1, 40), st.integers(1, 5))
def test_the_newest_of_all_parts(moments, most, at_once):
    """However the rows lie, and however few of them a reading gives."""
    lists = [
        [Row(f"p{number}-{place}", at) for place, at in enumerate(sorted(each, reverse=True))]
        for number, each in enumerate(moments)
    ]
    rows, rest = newest((source := Source(lists, at_once)).parts(), most, source.read)
    whole = sorted((-row.at, number, place) for number, each in enumerate(lists) for place, row in enumerate(each))
    assert rows == [lists[number][place] for _, number, place in whole[:most]]
    assert rest == (rows[-1] if len(whole) > most else None)


def test_one_reading_of_each_part_is_nearly_always_enough():
    """Of as many rows as a share is, whatever a page has."""
    for most in (25, 51, 201, 1000):
        lists = [[] for _ in range(24)]
        for n in range(5_000):
            lists[FOLLOWERS.number_of(f"fan-{n}")].append(Row(f"fan-{n}", 5_000 - n))
        newest((source := Source(lists, share(most, 24))).parts(), most, source.read)
        assert source.asked <= 25


def read_whole(lists, limit):
    shown, after = [], None
    while True:
        rows, after = lists.rows(Listed.FOLLOWERS, "star", limit, after)
        assert len(rows) == limit or after is None
        shown += rows
        assert len({*shown}) == len(shown)
        if after is None:
            return shown


@given(st.lists(st.integers(0, 4), max_size=60), st.integers(1, 30), st.booleans())
@example([0] * 60, 1, True)
@settings(deadline=None)
def test_a_list_in_pages(moments, limit, short):
    """Many at one moment, cursors anywhere, readings that come short."""
    aws = UnkindAws(unkind={Unkindness.SHORT_PAGE: 0.5} if short else {})
    for n, at in enumerate(moments):
        aws.put("followers", follow("star", f"fan{n}", 1_700_000_000_000 + at))
    aws.put("followers", follow("rival", "fan0", 1_700_000_000_000))
    shown = read_whole(DynamoLists(aws.client(), ""), limit)
    assert sorted(row.user_id for row in shown) == sorted(f"fan{n}" for n in range(len(moments)))
    assert [row.at for row in shown] == sorted((row.at for row in shown), reverse=True)


def test_parts_are_read_side_by_side():
    """The answers are the same, and an error of one is the request's."""
    aws = UnkindAws()
    for n in range(100):
        aws.put("followers", follow("star", f"fan{n}", 1_700_000_000_000 + n))
    lists = DynamoLists(aws.client(), "", side_by_side=side_by_side())
    assert [row.user_id for row in read_whole(lists, 30)] == [f"fan{n}" for n in reversed(range(100))]
    del aws.tables["followers"]
    with pytest.raises(Exception, match="not ready"):
        lists.rows(Listed.FOLLOWERS, "star", 30, None)


@pytest.fixture
def before():
    """A table as releases up to 0.3.0 left it: rows without part, in the index that goes; old and new ones beside."""
    aws = UnkindAws()
    keys = [
        {"AttributeName": name, "KeyType": kind} for name, kind in (("followee_id", "HASH"), ("followed_at", "RANGE"))
    ]
    aws.tables["followers"].kinds["followed_at"] = "N"
    old = {"IndexName": "by_recency", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    aws.tables["followers"].add_index(old, aws.now)
    for n in range(50):
        row = follow("star", f"fan{n}", 1_700_000_000_000 + n)
        aws.put("followers", {name: value for name, value in row.items() if name != "part"} if n % 2 else row)
    return aws


def test_lists_do_not_change_while_the_migration_runs(before):
    """Nor do cursors: what was read before the switch goes on behind it."""
    now = [0.0]
    switch = MigrationSwitch(before.client(), "", MIGRATIONS.SPREAD_FOLLOWERS, lambda: now[0])
    lists = DynamoLists(before.client(), "", switch)
    everybody = [f"fan{n}" for n in reversed(range(50))]
    assert [row.user_id for row in read_whole(lists, 20)] == everybody
    first, after = lists.rows(Listed.FOLLOWERS, "star", 20, None)
    change = spread_followers.backfill
    for row in [*before.items("followers")]:
        (changed,) = change(row)
        before.put("followers", changed)
        assert [*change(changed)] == [changed]
    before.put("migrations", {"migration": {"S": MIGRATIONS.SPREAD_FOLLOWERS}, "switched_at": {"N": "1"}})
    now[0] += LOOK_S + 1
    assert switch()
    del before.tables["followers"].indexes["by_recency"]
    rest = []
    while after is not None:
        rows, after = lists.rows(Listed.FOLLOWERS, "star", 20, after)
        rest += rows
    assert [row.user_id for row in (*first, *rest)] == everybody


def test_every_follow_is_written_with_its_part(aws, join, call):
    """Followed or accepted; so it is in the list."""
    join("alice", "bob", "carol")
    join("star", is_private=True)
    call("alice", "POST /users/star/follow")
    call("star", "POST /users/me/follow-requests/alice")
    call("bob", "POST /users/carol/follow")
    parts = {row["follower_id"]["S"]: row["part"]["S"] for row in aws.items("followers")}
    assert parts == {"alice": FOLLOWERS.part_of("star", "alice"), "bob": FOLLOWERS.part_of("carol", "bob")}
    lists = dynamo_graph(aws.client(), "").lists
    assert [row.user_id for row in lists.rows(Listed.FOLLOWERS, "star", 5, None)[0]] == ["alice"]
