"""The rule: whatever is redelivered, however it is cut and mixed, the counts are those of each event once."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import TOPICS
from count_aggregator.tally import tally, vanished
from murmuration_worker.messages import Arrival

from .conftest import arrivals, event, histories, truth

TOPIC = TOPICS["FollowChanged"]
PLENTY = 1_000


def added(tallies):
    followers, following = Counter(), Counter()
    for one in tallies:
        followers.update(one.followers)
        following.update(one.following)
    return followers, following


@settings(deadline=None)
@given(histories(), st.data())
def test_any_interleaving_redelivery_and_split_gives_the_same_counts(published, data):
    """Partitions in any order, each cut anywhere, each cut begun again anywhere before: each event counts once."""
    partitions = {}
    for one in published:
        partitions.setdefault(TOPIC.partition(TOPIC.key(one)), []).append(one)
    marks, done = {number: {} for number in partitions}, dict.fromkeys(partitions, 0)
    tallies = []
    while open_ones := [number for number in sorted(partitions) if done[number] < len(partitions[number])]:
        number = data.draw(st.sampled_from(open_ones))
        start = data.draw(st.integers(0, done[number]))
        end = data.draw(st.integers(done[number] + 1, len(partitions[number])))
        rest = arrivals(partitions[number][start:end], start)
        room = data.draw(st.integers(3, 9))
        while rest:
            one = tally(rest, marks[number], room)
            marks[number] |= one.watermarks
            rest = rest[one.taken :]
            tallies.append(one)
        done[number] = end
    assert added(tallies) == truth(published)


@given(histories(), st.data())
def test_redelivery_from_any_earlier_point_changes_nothing(history, data):
    """A crash replays from somewhere before the watermark; the counts come out the same."""
    cut = data.draw(st.integers(0, len(history)))
    restart = data.draw(st.integers(0, cut))
    first = tally(arrivals(history[:cut]), {}, PLENTY)
    second = tally(arrivals(history[restart:]), first.watermarks, PLENTY)
    assert added([first, second]) == truth(history)
    assert second.repeats == cut - restart


@given(histories(), st.integers(3, 8))
def test_any_split_by_room_gives_the_same_counts(history, room):
    """A transaction holds so many items; what does not fit goes into the next, and nothing is lost between."""
    tallies, marks, rest = [], {}, arrivals(history)
    while rest:
        one = tally(rest, marks, room)
        assert one.taken > 0
        assert len(one.users) + len(one.watermarks) <= room
        marks |= one.watermarks
        rest = rest[one.taken :]
        tallies.append(one)
    assert added(tallies) == truth(history)


@given(st.lists(st.integers(0, 30)), st.integers(0, 10))
def test_an_offset_that_never_came_is_named_once(offsets, expected):
    """What is neither before the first expected, nor there, nor beyond the last, has vanished."""
    came = sorted(set(offsets))
    reached, holes = vanished([Arrival(offset, None) for offset in came], expected)
    assert reached == max([expected, *(offset + 1 for offset in came)])
    assert {offset for hole in holes for offset in hole} == set(range(expected, reached)) - set(came)


@given(st.integers(0, 20), st.integers(0, 20))
def test_redelivery_is_no_gap(restart, expected):
    """Whatever begins again at or before the expected offset leaves nothing out."""
    again = [Arrival(offset, None) for offset in range(min(restart, expected), 30)]
    assert vanished(again, expected) == (30, [])


def test_what_was_buried_is_passed_over():
    """A dead letter has its offset and no effect."""
    result = tally([Arrival(7, None), Arrival(8, event(1))], {}, PLENTY)
    assert (result.taken, result.repeats, result.watermarks) == (2, 0, {"shard-1": 1})


def test_a_viral_account_is_one_item_in_a_batch():
    """A hundred follows of one person cost one update of that person, not a hundred."""
    batch = arrivals([event(n, follower=f"fan-{n}", followee="star") for n in range(1, 50)])
    result = tally(batch, {}, 100)
    assert result.taken == len(batch)
    assert result.followers["star"] == len(batch)


def test_follow_and_unfollow_in_one_batch_still_move_the_watermark():
    """They cancel out in the counts, and a replay of both is known."""
    result = tally(arrivals([event(1), event(2, following=False)]), {}, PLENTY)
    assert result.followers["bob"] == 0
    assert result.watermarks == {"shard-1": 2}
