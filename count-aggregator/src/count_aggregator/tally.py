"""What a batch of FollowChanged does to the counts. Pure: no clock, no I/O.

Rule: within one Kafka partition and one source shard, sequence numbers only ever repeat or grow. So one watermark for
each shard is all the memory that counting once needs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts import FollowChanged
from murmuration_worker.messages import Arrival


@dataclass(frozen=True)
class Tally:
    """What to add to whom, and how far that brings each shard that it touches."""

    followers: Counter[str]
    following: Counter[str]
    watermarks: dict[str, int]
    taken: int
    repeats: int

    @property
    def users(self) -> set[str]:
        """Everyone whose counts move, be it by nothing in the end."""
        return self.followers.keys() | self.following.keys()


def tally(arrivals: Sequence[Arrival[FollowChanged]], watermarks: Mapping[str, int], room: int) -> Tally:
    """Add up the longest prefix of arrivals whose users and shards fit in the room; repeats add nothing."""
    followers: Counter[str] = Counter()
    following: Counter[str] = Counter()
    moved: dict[str, int] = {}
    users: set[str] = set()
    taken = repeats = 0
    for _, event in arrivals:
        if event is not None:
            shard, sequence = event.source.shard_id, event.source.sequence_number
            if sequence <= moved.get(shard, watermarks.get(shard, -1)):
                repeats += 1
            else:
                new = {event.followee_id, event.follower_id} - users
                if len(users) + len(new) + len(moved) + (shard not in moved) > room:
                    break
                users |= new
                moved[shard] = sequence
                followers[event.followee_id] += event.change
                following[event.follower_id] += event.change
        taken += 1
    return Tally(followers, following, moved, taken, repeats)


def vanished(arrivals: Sequence[Arrival[FollowChanged]], expected: int) -> tuple[int, list[range]]:
    """Return the offset that comes next, and the offsets that never came: Kafka hands them out without a hole."""
    holes = []
    for offset, _ in arrivals:
        if offset > expected:
            holes.append(range(expected, offset))
        expected = max(expected, offset + 1)
    return expected, holes
