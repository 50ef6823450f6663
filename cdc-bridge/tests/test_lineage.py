"""On any forest of shards and whatever ages out meanwhile: parents first, nothing forgotten, no loss in silence."""

from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.lineage import Shard, State, readable, vanished


@st.composite
def forests(draw):
    """Draw shards in any order; each was born of an earlier one, or of none."""
    parents = [draw(st.none() | st.integers(0, n - 1)) if n else None for n in range(draw(st.integers(0, 12)))]
    shards = [Shard(f"s{n}", None if parent is None else f"s{parent}") for n, parent in enumerate(parents)]
    return draw(st.permutations(shards))


@given(forests(), st.data())
def test_every_listed_shard_is_read_once_and_after_its_parent(forest, data):
    """Whatever has aged out before we came, the rest can be read, each shard when its listed parent is finished."""
    listing = [shard for shard in forest if data.draw(st.booleans())]
    states, order = {}, []
    while candidates := readable(listing, states):
        shard = data.draw(st.sampled_from(candidates))
        states[shard.shard_id] = State.ENDED
        order.append(shard.shard_id)
    assert sorted(order) == sorted(shard.shard_id for shard in listing)
    for shard in listing:
        if shard.parent_id in order:
            assert order.index(shard.parent_id) < order.index(shard.shard_id)


@given(forests(), st.data())
def test_a_shard_that_ages_out_unfinished_is_told_and_holds_back_its_children(forest, data):
    """In any order of beginning, finishing and ageing, no shard is begun while its parent's rest is unread or lost."""
    parent = {shard.shard_id: shard.parent_id for shard in forest}
    listing, states, lost = list(forest), {}, set()
    for _ in range(data.draw(st.integers(0, 40))):
        for shard in readable(listing, states):
            assert states.get(parent[shard.shard_id], State.ENDED) is State.ENDED
            assert parent[shard.shard_id] not in lost
        assert vanished(listing, states) == lost
        step = data.draw(st.sampled_from(["begin", "finish", "age"]))
        begun = [shard for shard in readable(listing, states) if shard.shard_id in states]
        fresh = [shard for shard in readable(listing, states) if shard.shard_id not in states]
        if step == "begin" and fresh:
            states[data.draw(st.sampled_from(fresh)).shard_id] = data.draw(
                st.sampled_from([State.OPENED, State.READING])
            )
        elif step == "finish" and begun:
            states[data.draw(st.sampled_from(begun)).shard_id] = State.ENDED
        elif step == "age" and listing:
            aged = data.draw(st.sampled_from(listing))
            listing.remove(aged)
            if states.get(aged.shard_id, State.ENDED) is not State.ENDED:
                lost.add(aged.shard_id)


def test_a_child_seen_before_its_parent_waits_for_it():
    """A listing may name the child first; order in it means nothing."""
    child, parent = Shard("child", "parent"), Shard("parent", None)
    assert readable([child, parent], {}) == [parent]
    assert readable([child, parent], {"parent": State.READING}) == [parent]
    assert readable([child, parent], {"parent": State.ENDED}) == [child]


def test_a_parent_that_was_opened_and_is_gone_is_a_gap_even_if_nothing_was_read():
    """An idle shard has no position, but somebody had begun it: what it held is unknown."""
    child = Shard("child", "parent")
    assert readable([child], {"parent": State.OPENED}) == []
    assert vanished([child], {"parent": State.OPENED}) == {"parent"}
