"""Several owners of the same partitions on AWS as it is, and each event counts once."""

from collections import Counter
from random import Random

import pytest
from botocore.exceptions import ClientError

from count_aggregator.counting import Counting
from count_aggregator.ledger import Ledger
from count_aggregator.topic import KEPT_SECONDS
from murmuration_testkit.unkind_aws import EVERYTHING, Actors, UnkindAws, Unkindness
from murmuration_worker.messages import Arrival

from .conftest import event, handle, truth
from .unkind_world import LAGS

PEOPLE = ["alice", "bob", "carol", "dave"]
PARTITIONS = ["FollowChanged/0", "FollowChanged/1"]
TOPIC_ID = "topic-1"
OWNERS = 3
LENGTH = 40
SEEDS = range(60)
SWITCHES = {
    **EVERYTHING,
    Unkindness.ITEM_BY_ITEM: 0.5,
    Unkindness.TORN_READ: 0.5,
    Unkindness.INTERLEAVING: 0.5,
    Unkindness.CLOCKS_APART_LAG: 3600,
    Unkindness.LATE_WRITE: 0.1,
}
MET = {
    Unkindness.CONFLICT,
    Unkindness.HANG,
    Unkindness.INTERLEAVING,
    Unkindness.ITEM_BY_ITEM,
    Unkindness.LATE_WRITE,
    Unkindness.LOST_ANSWER,
    Unkindness.REFUSAL,
    Unkindness.REPEATED_WRITE,
    Unkindness.THROTTLING,
    Unkindness.TORN_READ,
    Unkindness.UNPROCESSED_KEYS,
}


class World:
    """Two partitions of Kafka, a group's offsets, and workers that own whatever they think they own."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.aws = UnkindAws(seed, SWITCHES)
        self.log = {partition: self._history() for partition in PARTITIONS}
        self.committed = dict.fromkeys(PARTITIONS, 0)

    def _history(self):
        sequences, events = Counter(), []
        for _ in range(LENGTH):
            shard = self.random.choice(["shard-1", "shard-2"])
            sequences[shard] += self.random.randint(1, 9)
            follower, followee = self.random.sample(PEOPLE, 2)
            following = self.random.random() < 2 / 3
            events.append(event(sequences[shard], follower, followee, following=following, shard=shard))
        return [Arrival(offset, one, self.aws.ms()) for offset, one in enumerate(events)]

    def own(self):
        """Work until the group has passed the ends; begin again like a new process when AWS refuses."""
        clock = self.aws.process()
        while any(self.committed[partition] < LENGTH for partition in PARTITIONS):
            ledger = Ledger(self.aws.client(read_seconds=4), "", KEPT_SECONDS)
            counting = Counting(ledger, sleep=clock.sleep, now=clock.time)
            try:
                self._work(counting, clock)
            except ClientError:
                self.aws.sleep(1)

    def _work(self, counting, clock):
        for _ in range(self.random.randint(1, 5)):
            partition = self.random.choice(PARTITIONS)
            start = self.random.randint(0, self.committed[partition])
            end = self.random.randint(start, min(LENGTH, self.committed[partition] + 15))
            batch = self.log[partition][start:end]
            handle(counting, partition, TOPIC_ID, batch, sleep=lambda _: clock.sleep(self.random.uniform(0, 9)))
            self.committed[partition] = max(self.committed[partition], end)
            clock.sleep(self.random.random())

    def replay(self):
        """Read all of it again when the watermarks are gone."""
        self.aws.sleep(KEPT_SECONDS + 7200)
        self.aws.delete_expired()
        with self.aws.kind():
            for partition, log in self.log.items():
                Counting(Ledger(self.aws.client(), "", KEPT_SECONDS), now=self.aws.time).count(partition, TOPIC_ID, log)

    def counts(self):
        """Return what the table users says, without those who have nothing."""
        with self.aws.kind():
            found = self.aws.client().scan(TableName="users")["Items"]
        ours = [
            Counter({i["user_id"]["S"]: int(i[name]["N"]) for i in found})
            for name in ("followers_count", "following_count")
        ]
        return tuple({user: count for user, count in one.items() if count} for one in ours)

    def gaps(self):
        """Return what the ledger believes to have missed."""
        with self.aws.kind():
            return Ledger(self.aws.client(), "", KEPT_SECONDS).open_gaps(PARTITIONS)

    def truth(self):
        """Count each event once."""
        both = truth([one.event for log in self.log.values() for one in log])
        return tuple({user: count for user, count in one.items() if count} for one in both)


class Interrupted(Ledger):
    """A ledger whose first write waits until somebody else has finished theirs."""

    def __init__(self, *arguments, before_writing):
        super().__init__(*arguments)
        self._before_writing = before_writing

    def write(self, *arguments):
        self._before_writing()
        super().write(*arguments)


@pytest.mark.parametrize("seed", range(20))
def test_a_second_owner_that_reads_within_a_transaction_counts_nothing_twice_and_sees_no_gap(seed):
    """It reads place and watermarks after each commit of the first owner's items, in any order, and then writes."""
    aws = UnkindAws(seed, {Unkindness.ITEM_BY_ITEM: 1})
    batch = [Arrival(offset, event(offset), aws.ms()) for offset in range(3)]
    first = Counting(Ledger(aws.client(), "", KEPT_SECONDS), now=aws.time)
    actors, done = Actors(aws), []

    def wait():
        while not done:
            aws.sleep(1)

    def write():
        first.count(PARTITIONS[0], TOPIC_ID, batch)
        done.append(True)

    def read_within():
        ledger = Interrupted(aws.client(), "", KEPT_SECONDS, before_writing=wait)
        Counting(ledger, sleep=aws.sleep, now=aws.time).count(PARTITIONS[0], TOPIC_ID, batch[:2])

    actors.add("first", write)
    for number in range(4):
        actors.add(f"second-{number}", read_within)
    actors.run()
    found = aws.client().scan(TableName="users")["Items"]
    assert {user["user_id"]["S"]: user["followers_count"]["N"] for user in found} == {"alice": "0", "bob": "3"}
    ledger = Ledger(aws.client(), "", KEPT_SECONDS)
    assert ledger.open_gaps(PARTITIONS) == {}
    assert ledger.watermarks(PARTITIONS[0], ["shard-1"]) == {"shard-1": 2}


@pytest.fixture(scope="module")
def occurred():
    """What happened in all histories together."""
    return Counter()


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_aws_does_each_event_counts_once_and_no_gap_is_seen(seed, occurred):
    """Owners overlap, one is killed, and whoever reads in the middle of a transaction is refused."""
    world = World(seed)
    actors = Actors(world.aws)
    owners = [actors.add(f"owner-{number}", world.own) for number in range(OWNERS)]

    def kill_one():
        world.aws.sleep(world.random.uniform(0, 20))
        actors.kill(owners[0])

    actors.add("killer", kill_one)
    actors.run()
    world.aws.advance_to(world.aws.now + 60)  # late writes come
    occurred.update(world.aws.occurred)
    assert world.counts() == world.truth()
    assert world.gaps() == {}
    world.replay()
    assert world.counts() == world.truth()
    assert world.gaps().keys() == {*PARTITIONS}


def test_all_of_it_happened(occurred):
    """Else the histories above would prove little."""
    assert {each for each in MET if not occurred[each]} == set()


def test_nothing_that_aws_does_is_left_out():
    """What is not met here is met by test_reconcile_on_aws.py; only a read that may lag is asked for by nobody."""
    assert {*Unkindness} - MET - {*LAGS} == {Unkindness.READ_LAG}
