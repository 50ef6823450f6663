"""A topic grows: what the bridge publishes to both, because it was killed between the two, counts once."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from count_aggregator.counting import Counting
from count_aggregator.ledger import Ledger
from count_aggregator.topic import KEPT_SECONDS, TOPIC
from murmuration_testkit.unkind_aws import UnkindAws
from murmuration_worker.messages import Arrival

from .conftest import event, truth

PEOPLE = ["alice", "bob", "carol", "dave"]
SHARDS = ["shard-1", "shard-2"]
OLD = replace(TOPIC, partitions=2)
GROWN = replace(OLD, name=f"{TOPIC.name}-2", partitions=6, grown_from=(2,))
rows = st.lists(st.tuples(st.sampled_from(SHARDS), st.permutations(PEOPLE), st.booleans()), min_size=1, max_size=30)


def ancestors(partition_id):
    """As count_aggregator.topic has it, for the small topics."""
    name, _, number = partition_id.rpartition("/")
    return [f"{before}/{lay}" for before, lay in GROWN.ancestors(int(number))] if name == GROWN.name else []


def publish(topic, events):
    """Lay events into the partitions of a topic."""
    log = {}
    for one in events:
        log.setdefault(f"{topic.name}/{topic.partition(topic.key(one))}", []).append(one)
    return log


@settings(max_examples=50, deadline=None)
@given(rows, st.data())
def test_a_topic_that_grows_under_a_bridge_that_is_killed_counts_each_event_once(rows, data):
    """The new topic begins at the checkpoint, which lies anywhere before the last event of the old one."""
    events = [
        event(number, people[0], people[1], following=following, shard=shard)
        for number, (shard, people, following) in enumerate(rows)
    ]
    last = data.draw(st.integers(0, len(events)))
    checkpoint = data.draw(st.integers(0, last))
    aws = UnkindAws(0, {})
    for topic, part in ((OLD, events[:last]), (GROWN, events[checkpoint:])):
        counting = Counting(Ledger(aws.client(), "", KEPT_SECONDS, ancestors), now=aws.time)
        for partition_id, log in publish(topic, part).items():
            counting.count(partition_id, topic.name, [Arrival(n, one, aws.ms()) for n, one in enumerate(log)])
    found = aws.client().scan(TableName="users").get("Items", [])
    for name, right in zip(("followers_count", "following_count"), truth(events), strict=True):
        counts = {user["user_id"]["S"]: int(user[name]["N"]) for user in found}
        assert {user: n for user, n in counts.items() if n} == {user: n for user, n in right.items() if n}
