"""What a batch of FollowChanged does to the counts. Pure: no clock, no I/O.

Rule: within one Kafka partition and one source shard, sequence numbers only ever repeat or grow. So one watermark for
each shard is all the memory that counting once needs. A watermark is forgotten when nothing should bring its shard
back. What comes back nevertheless is doubtful: an event above its watermark that is too old, or that lies before the
offset which the partition has reached. It is not counted; a recount of the rows decides.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from contracts import FollowChanged
from murmuration_worker.messages import Arrival


@dataclass(frozen=True)
class Tally:
    """What to add to whom, and how far that brings each shard that it touches, from where."""

    followers: Counter[str]
    following: Counter[str]
    watermarks: dict[str, int]
    loaded: dict[str, int]
    taken: int
    repeats: int
    doubtful: list[int]

    @property
    def users(self) -> set[str]:
        """Everyone whose counts move, be it by nothing in the end."""
        return self.followers.keys() | self.following.keys()


def tally(
    arrivals: Sequence[Arrival[FollowChanged]],
    watermarks: Mapping[str, int],
    room: int,
    *,
    reached: int = 0,
    too_old_ms: float = -math.inf,
    contended: Collection[str] = (),
) -> Tally:
    """Add up the longest prefix of arrivals whose users and shards fit in the room; repeats add nothing.

    reached: the offset up to which the partition is counted. too_old_ms: what Kafka got before that is doubtful.
    contended: users whom nobody shall wait for; the prefix ends before them, or begins with one of them.
    """
    followers: Counter[str] = Counter()
    following: Counter[str] = Counter()
    moved: dict[str, int] = {}
    users: set[str] = set()
    doubtful: list[int] = []
    taken = repeats = 0
    for offset, event, written_ms in arrivals:
        if event is not None:
            shard, sequence = event.source.shard_id, event.source.sequence_number
            is_doubtful = offset < reached or written_ms < too_old_ms
            if sequence <= moved.get(shard, watermarks.get(shard, -1)):
                repeats += 1
            else:
                new = set() if is_doubtful else {event.followee_id, event.follower_id} - users
                if len(users) + len(new) + len(moved) + (shard not in moved) > room:
                    break
                if users and not new.isdisjoint(contended):
                    break
                moved[shard] = sequence
                if is_doubtful:
                    doubtful.append(offset)
                else:
                    users |= new
                    followers[event.followee_id] += event.change
                    following[event.follower_id] += event.change
        taken += 1
    loaded = {shard: watermarks.get(shard, -1) for shard in moved}
    return Tally(followers, following, moved, loaded, taken, repeats, doubtful)


def vanished(arrivals: Sequence[Arrival[FollowChanged]], expected: int) -> tuple[int, list[range]]:
    """Return the offset that comes next, and the offsets that never came: Kafka hands them out without a hole."""
    holes = []
    for offset, _, _ in arrivals:
        if offset > expected:
            holes.append(range(expected, offset))
        expected = max(expected, offset + 1)
    return expected, holes
