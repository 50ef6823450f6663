"""The real ledger on a DynamoDB in memory, and what a test asks of it."""

from collections import Counter

from contracts.tables import LEDGERS, USERS
from count_aggregator.ledger import PLACE, Ledger
from count_aggregator.topic import KEPT_SECONDS
from murmuration_testkit.unkind_aws import UnkindAws


class MemoryLedger(Ledger):
    """A Ledger that counts what it is asked; AWS is kind to it, unless it is told otherwise."""

    def __init__(self, seed=0, unkind=None):
        self.aws = UnkindAws(seed, unkind)
        super().__init__(self.aws.client(), "", KEPT_SECONDS)
        self.writes = 0
        self.asked = 0
        self.sizes = []

    def watermarks(self, partition_id, shards):
        self.asked += len(shards)
        return super().watermarks(partition_id, shards)

    def write(self, *parts):
        before = self.aws.items_written.total()
        super().write(*parts)
        self.writes += 1
        self.sizes.append(self.aws.items_written.total() - before)

    @property
    def followers(self):
        return self._counts_of(USERS.followers_count)

    @property
    def following(self):
        return self._counts_of(USERS.following_count)

    @property
    def gaps(self):
        """Return the open gaps of all partitions, in the order in which each was found."""
        return [gap["S"] for item in self.aws.items("ledgers") for gap in item.get(LEDGERS.gaps, {"L": []})["L"]]

    @property
    def marks(self):
        """Return the watermarks, by shard."""
        return {
            item[LEDGERS.shard_id]["S"]: int(item[LEDGERS.sequence_number]["S"])
            for item in self.aws.items("ledgers")
            if item[LEDGERS.shard_id]["S"] != PLACE
        }

    def forget(self):
        """Let every watermark expire."""
        self.aws.sleep(2**32)  # by whatever clock they were written
        self.aws.delete_expired()

    def _counts_of(self, name):
        return Counter({item[USERS.user_id]["S"]: int(item[name]["N"]) for item in self.aws.items("users")})
