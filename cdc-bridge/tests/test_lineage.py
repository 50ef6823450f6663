"""On any forest of shards and whatever ages out meanwhile: parents first, nothing forgotten, no loss in silence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.lineage import (
    CLOCKS_MS,
    KEPT_MS,
    RETENTION_MS,
    Row,
    Shard,
    State,
    drained,
    exhausted,
    is_overdue,
    lost,
    prunable,
    readable,
    shown,
    strangers,
    tip,
)
from contracts.table_files import load
from contracts.topic import DATA

NOW = 1_700_000_000_000
OVERDUE_MS = RETENTION_MS - CLOCKS_MS
LATE = NOW + RETENTION_MS + CLOCKS_MS
CHILD, PARENT = Shard("child", "parent"), Shard("parent", None)


def rows(since=NOW, **states):
    return {name: Row(name, state, since=since) for name, state in states.items()}


@st.composite
def forests(draw):
    """Draw shards in any order; each was born of an earlier one, or of none."""
    parents = [draw(st.none() | st.integers(0, n - 1)) if n else None for n in range(draw(st.integers(0, 12)))]
    shards = [Shard(f"s{n}", None if parent is None else f"s{parent}") for n, parent in enumerate(parents)]
    return draw(st.permutations(shards))


@given(forests(), st.data())
def test_every_shard_of_a_first_listing_is_read_once_and_after_its_parent(forest, data):
    """Whatever has aged out before we came, the rest can be read, each shard when its listed parent is finished."""
    listing = [shard for shard in forest if data.draw(st.booleans())]
    known = {shard.shard_id: Row(shard.shard_id, State.LEFT) for shard in listing}
    order = []
    while candidates := readable(listing, known, strangers(listing, known)):
        shard = data.draw(st.sampled_from(candidates))
        known[shard.shard_id] = Row(shard.shard_id, State.ENDED)
        order.append(shard.shard_id)
    assert sorted(order) == sorted(shard.shard_id for shard in listing)
    assert drained(listing, known)
    for shard in listing:
        if shard.parent_id in order:
            assert order.index(shard.parent_id) < order.index(shard.shard_id)


@given(forests(), st.data())
def test_a_shard_that_ages_out_unfinished_is_told_and_holds_back_its_children(forest, data):
    """In any order of birth, reading and ageing, no shard is begun while its parent's rest is unread or lost."""
    shards = {shard.shard_id: shard for shard in forest}
    parent = {name: shard.parent_id for name, shard in shards.items()}
    listing, known, aged = [], {}, set()
    for name in sorted(shards, key=lambda name: int(name[1:])):
        listing.append(shards[name])
        for _ in range(data.draw(st.integers(0, 3))):
            for shard in readable(listing, known, ()):
                if shard.parent_id is not None:
                    assert known[shard.parent_id].state is State.ENDED
            unfinished = {one for one in aged if known.get(one, Row(one, State.OPENED)).state is not State.ENDED}
            told = lost(listing, known, NOW)
            assert told <= unfinished
            for shard in listing:
                if shard.parent_id in unfinished and shard.shard_id not in known:
                    assert shard.parent_id in told
            if candidates := readable(listing, known, ()):
                shard = data.draw(st.sampled_from(candidates))
                state = data.draw(st.sampled_from([State.OPENED, State.READING, State.ENDED]))
                known[shard.shard_id] = Row(shard.shard_id, state)
            if len(listing) > 1 and data.draw(st.booleans()):
                old = data.draw(st.sampled_from(listing))
                listing.remove(old)
                aged.add(old.shard_id)
    assert all(name in parent for name in aged)


def test_a_child_seen_before_its_parent_waits_for_it():
    """A listing may name the child first; order in it means nothing."""
    assert readable([CHILD, PARENT], {}, ()) == [PARENT]
    assert readable([CHILD, PARENT], rows(parent=State.READING), ()) == [PARENT]
    assert readable([CHILD, PARENT], rows(parent=State.ENDED), ()) == [CHILD]


def test_a_parent_that_was_opened_and_is_gone_is_lost_even_if_nothing_was_read():
    """An idle shard has no position, but somebody had begun it: what it held is unknown."""
    assert readable([CHILD], rows(parent=State.OPENED), ()) == []
    assert lost([CHILD], rows(parent=State.OPENED), NOW) == {"parent"}


def test_of_a_shard_of_the_first_listing_only_what_is_left_is_asked_unless_nobody_asked_for_a_day():
    """It was closed before we came, so it goes within a day of that; later, it had what we should have read."""
    left = rows(parent=State.LEFT)
    assert exhausted([CHILD], left, NOW + OVERDUE_MS - 1) == {"parent"}
    assert lost([CHILD], left, NOW + OVERDUE_MS - 1) == set()
    assert exhausted([CHILD], left, NOW + OVERDUE_MS) == set()
    assert lost([CHILD], left, NOW + OVERDUE_MS) == {"parent"}
    assert is_overdue(NOW, 0, NOW + OVERDUE_MS)
    assert not is_overdue(0, NOW, NOW + OVERDUE_MS - 1)


def test_the_row_of_a_finished_shard_is_kept_while_anything_needs_it():
    """Itself, or it would be read again; its child without a row, or that would seem to have an unseen parent."""
    ended = rows(parent=State.ENDED)
    late = NOW + KEPT_MS + 1
    ended["parent"] = Row("parent", State.ENDED, tip_at=NOW)
    assert prunable([], ended, late) == {"parent"}
    assert prunable([], ended, late - 1) == set()
    assert prunable([PARENT], ended, late) == set()
    assert prunable([CHILD], ended, late) == set()
    assert prunable([CHILD], ended | rows(child=State.OPENED), late) == {"parent"}
    assert prunable([], {"parent": Row("parent", State.ENDED, tip_at=NOW, gap="lost")}, late) == set()


def test_a_stream_is_published_as_far_as_its_slowest_shard():
    """Listed or not; a shard that nobody has begun is as far as its parent was."""
    known = {"a": Row("a", State.READING, tip_at=NOW - 3), "b": Row("b", State.READING, tip_at=NOW - 5)}
    a, b, new, orphan = Shard("a", None), Shard("b", None), Shard("new", "b"), Shard("orphan", None)
    assert tip([a, b], known, NOW) == NOW - 5
    assert tip([a], known, NOW) == NOW - 5
    assert tip([a, b], known, NOW - 6) == NOW - 6
    known["b"] = Row("b", State.ENDED, tip_at=NOW - 4)
    assert tip([a, b, new], known, NOW) == NOW - 4
    assert tip([a, b, new, orphan], known, NOW) == 0


def test_a_finished_shard_whose_child_is_not_listed_yet_is_no_published_stream():
    """The child may have been written to ever since; a day later it has long been listed, and nobody waits for it."""
    known = {"parent": Row("parent", State.ENDED, tip_at=NOW)}
    assert tip([PARENT], known, NOW + 9) == NOW
    assert tip([PARENT, CHILD], known | {"child": Row("child", State.READING, tip_at=NOW + 8)}, NOW + 9) == NOW + 8
    assert tip([PARENT], known, LATE) == LATE


@pytest.mark.parametrize("listed", [[], [PARENT]])
def test_a_child_that_is_not_listed_yet_holds_up_its_stream(listed):
    """It is written to, and nobody knows what is published; after a day it is known, or lost."""
    other, ended = Shard("other", None), Row("parent", State.ENDED, since=NOW - 9, tip_at=NOW)
    known = {"parent": ended, "other": Row("other", State.READING, tip_at=NOW + 900_000)}
    assert tip([other, *listed], known, NOW + 950_000) == NOW
    known["child"] = Row("child", State.READING, tip_at=NOW + 800_000)
    assert tip([other, *listed], known, NOW + 950_000) == NOW
    assert tip([other, *listed, CHILD], known, NOW + 950_000) == NOW + 800_000
    known["other"] = known["child"] = Row("other", State.READING, tip_at=LATE)
    assert tip([other], known, LATE) == LATE


def test_the_states_are_those_that_the_tables_file_names():
    """Others read them too: count-aggregator looks for what has ended."""
    assert {*State} == {*load(DATA)["leases"].attributes["state"].values}


def showing(name, until, state=State.READING, gap=None):
    return Row(name, state, since=NOW, tip_at=NOW, gap=gap, shown_until=until)


@pytest.mark.parametrize(
    ("listing", "known", "until"),
    [
        ([PARENT], [showing("parent", 7)], 7),
        ([PARENT, Shard("other", None)], [showing("parent", 7), showing("other", 5)], 5),
        ([PARENT], [showing("parent", 7, State.GAP, gap="lost")], 0),
        ([PARENT], [showing("parent", 7, gap="lost, and passed")], 0),
        ([PARENT], [showing("parent", 7, State.ENDED)], 7),  # its child is not listed yet
        ([PARENT, CHILD], [showing("parent", 7, State.ENDED)], 7),  # or nobody has begun it
        ([PARENT, CHILD], [showing("parent", 7, State.ENDED), showing("child", 0)], 0),
        ([PARENT, CHILD], [showing("parent", 7, State.ENDED), showing("child", 9)], 9),
        ([PARENT, CHILD], [showing("parent", 7), showing("child", 9)], 7),
        ([CHILD], [], 0),
        ([], [], 0),
    ],
)
def test_a_stream_has_shown_as_much_as_the_shard_that_is_furthest_behind(listing, known, until):
    """Also one that nobody has listed yet, for it can only follow one that ended; and what was lost is never shown."""
    assert shown(listing, {row.shard_id: row for row in known}, NOW) == until
