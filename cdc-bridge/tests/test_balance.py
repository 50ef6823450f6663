"""Bridges come and go, each knowing only what it last saw; the shards end up with them evenly, and stay there."""

from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.balance import moves, share

NAMES = st.sets(st.sampled_from("abcdefg"), min_size=1)


@given(NAMES, st.integers(0, 30))
def test_the_shares_add_up_and_differ_by_one_at_most(bridges, shards):
    """So no shard stays free, and nobody has two more than another."""
    shares = [share(name, bridges, shards) for name in bridges]
    assert sum(shares) == shards
    assert max(shares) - min(shares) <= 1


@given(st.data(), st.integers(0, 12))
def test_whatever_happened_before_all_shards_are_held_evenly_in_the_end_and_nothing_moves_then(data, count):
    """Workers join, leave their shards, or die with them; a shard is taken only if it is nobody's."""
    owners = dict.fromkeys(range(count))
    for _ in range(data.draw(st.integers(1, 4))):
        bridges = data.draw(NAMES)
        owners = {shard: owner if owner in bridges else None for shard, owner in owners.items()}
        for _ in range(data.draw(st.integers(0, 5))):
            turn(data.draw(st.sampled_from(sorted(bridges))), bridges, owners)
    for name in sorted(bridges) * 2:
        turn(name, bridges, owners)
    held = [list(owners.values()).count(name) for name in bridges]
    assert sum(held) == count
    assert max(held) - min(held) <= 1
    assert all(moves(name, bridges, owners) == ([], []) for name in bridges)


def turn(name, bridges, owners):
    take, give = moves(name, bridges, owners)
    assert all(owners[shard] is None for shard in take)
    assert all(owners[shard] == name for shard in give)
    owners.update(dict.fromkeys(take, name) | dict.fromkeys(give))
