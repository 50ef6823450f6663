"""The ledger in memory, and one whose answers get lost."""

from collections import Counter, defaultdict

from count_aggregator.ledger import Entry, TryAgainError


class MemoryLedger:
    """A Ledger that forgets, and that can fail before or after a write as a network does."""

    def __init__(self, faults=()):
        self.entries = defaultdict(dict)
        self.followers = Counter()
        self.following = Counter()
        self.writes = 0
        self._faults = iter(faults)

    def load(self, partition_id):
        return dict(self.entries[partition_id])

    def write(self, partition_id, result, entries):
        fault = next(self._faults, None)
        if fault == "lost":
            raise TryAgainError("the request was lost")
        moved = {}
        for shard, sequence in result.watermarks.items():
            if self.entries[partition_id].get(shard) != entries.get(shard):
                raise TryAgainError("another writer was faster")
            moved[shard] = Entry(sequence, entries[shard].version + 1 if shard in entries else 1)
        self.entries[partition_id].update(moved)
        self.followers.update(result.followers)
        self.following.update(result.following)
        self.writes += 1
        if fault == "unknown":
            raise TryAgainError("written, but the answer was lost")
        return {**entries, **moved}
