"""Events to count."""

from collections import Counter

from hypothesis import strategies as st

from contracts import FollowChanged, Source
from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.messages import Arrival

PEOPLE = ["alice", "bob", "carol", "dave"]
SHARDS = ["shard-1", "shard-2"]


def event(sequence, follower="alice", followee="bob", *, following=True, shard="shard-1"):
    return FollowChanged(f"e-{shard}-{sequence}", Source(shard, sequence), follower, followee, following, None)


def arrivals(events, first=0):
    """Lay events into a partition, one after the other."""
    return [Arrival(offset, one) for offset, one in enumerate(events, first)]


def handle(counting, *batch, sleep=lambda _: None):
    """Have a batch counted as libs/worker does: again and again while the store is away."""
    while True:
        try:
            return counting.count(*batch)
        except StoreAwayError:
            sleep(1)


@st.composite
def histories(draw):
    """One partition's events: shards interleave as they like, each in order, with gaps."""
    last, events = dict.fromkeys(SHARDS, 0), []
    for _ in range(draw(st.integers(0, 40))):
        shard = draw(st.sampled_from(SHARDS))
        last[shard] += draw(st.integers(1, 10**20))
        follower, followee = draw(st.permutations(PEOPLE))[:2]
        events.append(event(last[shard], follower, followee, following=draw(st.booleans()), shard=shard))
    return events


def truth(events):
    """Count each event once."""
    followers, following = Counter(), Counter()
    for one in events:
        followers[one.followee_id] += one.change
        following[one.follower_id] += one.change
    return followers, following
