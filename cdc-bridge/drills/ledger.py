"""The ledger check: what was written against what lies on Kafka. Pure: no clock, no I/O.

Rule: a message is new when its event_id is seen for the first time. The new ones alone are, key by key, exactly what
was written, in its order; and within a partition and a shard whatever goes back is a repeat.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """One row change that was committed: who follows whom now, or no longer; `at` is None when a row went away."""

    follower: str
    following: bool
    at: int | None


class Message(NamedTuple):
    """One message on Kafka."""

    partition: int
    event_id: str
    shard_id: str
    sequence: int
    key: str
    change: Change


def differences(written: Mapping[str, Sequence[Change]], messages: Iterable[Message]) -> tuple[list[str], Counter[str]]:
    """Say everything that is not as it should be, and how many messages were new and how many repeats."""
    first: dict[str, Message] = {}
    newest: dict[tuple[int, str], int] = defaultdict(lambda: -1)
    published: dict[str, list[Change]] = defaultdict(list)
    counts, found = Counter(new=0, repeated=0), []
    for message in messages:
        source = message.partition, message.shard_id
        if message.event_id in first:
            counts["repeated"] += 1
            if message != first[message.event_id]:
                found.append(f"a repeat that is not the same: {message}, first {first[message.event_id]}")
            continue
        counts["new"] += 1
        first[message.event_id] = message
        if message.sequence <= newest[source]:
            found.append(f"late: {message} came after {newest[source]}, and consumers will take it for a repeat")
        newest[source] = max(message.sequence, newest[source])
        published[message.key].append(message.change)
    found += (
        _difference(key, Counter(written.get(key, [])), Counter(published[key]))
        for key in sorted(written.keys() | published.keys())
        if list(written.get(key, [])) != published[key]
    )
    return found, counts


def _difference(key: str, written: Counter[Change], published: Counter[Change]) -> str:
    missing, surplus = written - published, published - written
    if not (missing or surplus):
        return f"{key}: out of order"
    return (
        f"{key}: {missing.total()} missing {list(missing)[:3]}, {surplus.total()} that nobody wrote {list(surplus)[:3]}"
    )
