"""The ledger in memory, and one whose answers get lost."""

from collections import Counter, defaultdict
from dataclasses import replace

from count_aggregator.ledger import OvertakenError, Place
from murmuration_runtime.errors import StoreAwayError


class MemoryLedger:
    """A Ledger that forgets, and that can fail before or after a write as a network does."""

    def __init__(self, faults=()):
        self.places = defaultdict(Place)
        self.marks = defaultdict(dict)
        self.gaps = []
        self.followers = Counter()
        self.following = Counter()
        self.writes = 0
        self.asked = 0
        self.sizes = []
        self._faults = iter(faults)

    def load(self, partition_id):
        return self.places[partition_id]

    def watermarks(self, partition_id, shards):
        self.asked += len(shards)
        return {shard: self.marks[partition_id].get(shard, -1) for shard in shards}

    def write(self, partition_id, result, was, becomes, gaps, _now):
        fault = next(self._faults, None)
        if fault == "lost":
            raise StoreAwayError("the request was lost")
        marks = self.marks[partition_id]
        if self.places[partition_id].version != was.version or any(
            marks.get(shard, -1) != sequence for shard, sequence in result.loaded.items()
        ):
            raise OvertakenError("another writer was faster")
        self.places[partition_id] = replace(becomes, version=was.version + 1)
        self.marks[partition_id].update(result.watermarks)
        self.gaps += gaps
        self.followers.update(result.followers)
        self.following.update(result.following)
        self.writes += 1
        self.sizes.append(1 + len(result.users) + len(result.watermarks))
        if fault == "unknown":
            raise StoreAwayError("written, but the answer was lost")
