"""The rule: whatever is redelivered, the counts are those of each event once."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from count_aggregator.tally import tally

from .conftest import event, histories

PLENTY = 1_000


def truth(events):
    """Count each event once."""
    followers, following = Counter(), Counter()
    for one in events:
        followers[one.followee_id] += one.change
        following[one.follower_id] += one.change
    return followers, following


def added(tallies):
    followers, following = Counter(), Counter()
    for one in tallies:
        followers.update(one.followers)
        following.update(one.following)
    return followers, following


@given(histories(), st.data())
def test_redelivery_from_any_earlier_point_changes_nothing(history, data):
    """A crash replays from somewhere before the watermark; the counts come out the same."""
    cut = data.draw(st.integers(0, len(history)))
    restart = data.draw(st.integers(0, cut))
    first = tally(history[:cut], {}, PLENTY)
    second = tally(history[restart:], first.watermarks, PLENTY)
    assert added([first, second]) == truth(history)
    assert second.repeats == cut - restart


@given(histories(), st.integers(3, 8))
def test_any_split_by_room_gives_the_same_counts(history, room):
    """A transaction holds so many items; what does not fit goes into the next, and nothing is lost between."""
    tallies, marks, rest = [], {}, history
    while rest:
        one = tally(rest, marks, room)
        assert one.taken > 0
        assert len(one.users) + len(one.watermarks) <= room
        marks |= one.watermarks
        rest = rest[one.taken :]
        tallies.append(one)
    assert added(tallies) == truth(history)


def test_a_viral_account_is_one_item_in_a_batch():
    """A hundred follows of one person cost one update of that person, not a hundred."""
    batch = [event(n, follower=f"fan-{n}", followee="star") for n in range(1, 50)]
    result = tally(batch, {}, 100)
    assert result.taken == len(batch)
    assert result.followers["star"] == len(batch)


def test_follow_and_unfollow_in_one_batch_still_move_the_watermark():
    """They cancel out in the counts, and a replay of both is known."""
    result = tally([event(1), event(2, following=False)], {}, PLENTY)
    assert result.followers["bob"] == 0
    assert result.watermarks == {"shard-1": 2}
