"""The drills' ledger check sees what it is there to see."""

import pytest

from ..drills import ledger


def message(sequence, key="ann", shard="shard", at=None):
    change = ledger.Change("bob", following=True, at=at or sequence)
    return ledger.Message(0, f"event-{sequence}", shard, sequence, key, change)


FIRST, SECOND, THIRD = ORDER = [message(1), message(2), message(3)]
WRITTEN = {"ann": [one.change for one in ORDER]}


@pytest.mark.parametrize("messages", [ORDER, [FIRST, SECOND, FIRST, SECOND, THIRD], [*ORDER, FIRST]])
def test_repeats_are_no_difference(messages):
    """At least once; the repeats are counted."""
    found, counts = ledger.differences(WRITTEN, messages)
    assert (found, counts) == ([], {"new": 3, "repeated": len(messages) - 3})


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([FIRST, THIRD], "ann: 1 missing"),
        ([], "ann: 3 missing"),
        ([FIRST, THIRD, SECOND], "late: "),
        ([SECOND, FIRST, message(3, shard="child")], "late: "),
        ([FIRST, message(2, shard="other"), message(3, shard="third"), message(4)], "that nobody wrote"),
        ([*ORDER, message(4, key="eve")], "eve: 0 missing [], 1 that nobody wrote"),
        ([*ORDER, message(1, at=9)], "a repeat that is not the same"),
        ([message(3, shard="child"), FIRST, SECOND], "ann: out of order"),
    ],
)
def test_everything_else_is(messages, said):
    """Lost, late, out of order over two shards, invented, or changed."""
    found, _ = ledger.differences(WRITTEN, messages)
    assert any(said in difference for difference in found), found
