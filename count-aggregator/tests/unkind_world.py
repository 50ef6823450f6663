"""Follows on the unkind AWS in virtual time: people, a bridge, a topic, an aggregator, and whoever reconciles them.

The bridge is as careless as the contract of `tip_at` allows, and a little more: it takes each page that is not full for
a tip, believes its own clock, and reads the listing as if it were complete.
"""

from collections import Counter

from contracts import FollowChanged, Source
from contracts.tables import FOLLOWERS, LEASES, USERS
from count_aggregator.bridge_progress import BridgeProgress
from count_aggregator.counting import Counting
from count_aggregator.dynamo_accounts import Accounts
from count_aggregator.dynamo_top_accounts import TopAccounts
from count_aggregator.ledger import Ledger
from count_aggregator.reconcile import Reconciliation
from count_aggregator.recount import Recount
from count_aggregator.topic import KEPT_SECONDS, partition_id
from murmuration_testkit.unkind_aws import Unkindness
from murmuration_worker.messages import Arrival

PEOPLE = [f"p{n}" for n in range(10)]
PARTITIONS = 2
SETTLED_MS = 1000
LAGS = {
    Unkindness.INDEX_LAG: 30.0,
    Unkindness.LISTING_LAG: 10.0,
    Unkindness.STREAM_LAG: 2.0,
    Unkindness.CLOCKS_APART_LAG: 5.0,
    Unkindness.EMPTY_PAGE: 0.1,
    Unkindness.SHORT_PAGE: 0.1,
    Unkindness.TORN_READ: 0.05,
    Unkindness.MISSING_SHARD: 0.02,
    Unkindness.ROUNDED_TIME: 1.0,
}


class Watched(Accounts):
    """Accounts whose repairs are compared with what was done to them."""

    def __init__(self, world, *parts):
        super().__init__(*parts)
        self._injected = world.injected
        self._seen = {}
        self.repairs = 0

    def look(self, user_id):
        self._seen[user_id] = self._injected[user_id, "followers"], self._injected[user_id, "following"]
        return super().look(user_id)

    def repair(self, user_id, look):
        if not super().repair(user_id, look):
            return False
        for added, by in zip(look.drift, self._seen[user_id], strict=True):
            assert added in (0, -by), f"{user_id}: {added} was added, and {by} was wrong"
        self._injected[user_id, "followers"] += look.drift[0]
        self._injected[user_id, "following"] += look.drift[1]
        self.repairs += 1
        return True


class World:
    """Everybody but the reconciliation lives while time passes; it passes when the reconciliation sleeps."""

    def __init__(self, aws, between_changes=15.0, people=PEOPLE):
        self.aws = aws
        self.people = people
        self.topic = [[] for _ in range(PARTITIONS)]
        self.injected = Counter()  # by user and kind of count: what events that never came, and corruption, did
        self.writes = True
        self._lose = 0
        self._dynamodb = aws.client("dynamodb")
        self._streams = aws.client("dynamodbstreams")
        self._bridge_clock = aws.process()
        self._clock = aws.process()
        self._iterators, self._tips, self._ended = {}, {}, set()
        ledger = Ledger(self._dynamodb, "", KEPT_SECONDS)
        self._counting = Counting(ledger, now=self._clock.time, sleep=lambda _: None)
        self._counted = [0] * PARTITIONS
        aws.meanwhile = lambda _: self._change() if self.writes else None
        self._every(lambda: aws.random.expovariate(1 / between_changes), lambda: self.writes and self._change())
        self._every(lambda: 0.7, self._publish)
        self._every(lambda: aws.random.uniform(0.2, 2), self._count)
        self._every(lambda: aws.random.uniform(100, 300), lambda: aws.stream(FOLLOWERS.name).roll_over())

    def reconciliation(self, **more):
        """The real one, on what these people do."""
        accounts = Watched(self, self._dynamodb, "", lambda: self.aws.sleep(0.02))
        progress = BridgeProgress(self._dynamodb, "")
        clock = self.aws.process()
        made = Reconciliation(
            accounts,
            progress.published_until,
            lambda: {("FollowChanged", n): len(arrivals) for n, arrivals in enumerate(self.topic)},
            lambda: {("FollowChanged", n): counted for n, counted in enumerate(self._counted)},
            patience_seconds=600,
            now=clock.time,
            sleep=self.aws.sleep,
            **more,
        )
        return made, accounts

    def recount(self, **more):
        """Everybody at once."""
        reconciliation, accounts = self.reconciliation(**more)
        top = TopAccounts(self._dynamodb, "", lambda: None, self.aws.time)
        ledger = Ledger(self._dynamodb, "", KEPT_SECONDS)
        return Recount(accounts, top, ledger, BridgeProgress(self._dynamodb, ""), reconciliation)

    def lose_an_event(self):
        """Have the next event never come to the topic; the bridge says so before it goes on."""
        self._lose += 1

    def corrupt(self, user, by):
        """Change a count, as nobody may."""
        self.injected[user, "followers"] += by
        self._update(user, "ADD followers_count :by", {":by": {"N": str(by)}})

    def settle(self):
        """Stop writing, and let everything that is on its way arrive."""
        self.writes = False
        self.aws.sleep(60)

    def wrong(self):
        """Return by how much each count differs from its rows."""
        rows = Counter()
        with self.aws.kind():
            for item in self._dynamodb.scan(TableName=FOLLOWERS.name, ConsistentRead=True)["Items"]:
                rows[item[FOLLOWERS.followee_id]["S"], "followers"] += 1
                rows[item[FOLLOWERS.follower_id]["S"], "following"] += 1
            found = {}
            for user in self.people:
                key = {USERS.user_id: {"S": user}}
                item = self._dynamodb.get_item(TableName=USERS.name, Key=key, ConsistentRead=True).get("Item", {})
                for kind in ("followers", "following"):
                    count = int(item.get(f"{kind}_count", {"N": "0"})["N"])
                    if count != rows[user, kind]:
                        found[user, kind] = count - rows[user, kind]
        return found

    def _every(self, seconds, act):
        def again():
            act()
            self.aws.later(seconds(), again)

        self.aws.later(seconds(), again)

    def _change(self):
        """Somebody follows or unfollows somebody."""
        followee, follower = self.aws.random.sample(self.people, 2)
        key = {FOLLOWERS.followee_id: {"S": followee}, FOLLOWERS.follower_id: {"S": follower}}
        if "Item" in self._dynamodb.get_item(TableName=FOLLOWERS.name, Key=key, ConsistentRead=True):
            self._dynamodb.delete_item(TableName=FOLLOWERS.name, Key=key)
        else:
            self._dynamodb.put_item(TableName=FOLLOWERS.name, Item={**key, FOLLOWERS.followed_at: {"N": "1"}})

    def _publish(self):
        arn = self._dynamodb.describe_table(TableName=FOLLOWERS.name)["Table"]["LatestStreamArn"]
        listed_at = self._bridge_clock.ms()
        listing = self._streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        for shard in listing:
            if shard["ShardId"] not in self._ended and shard.get("ParentShardId") in (None, *self._ended):
                self._read(arn, shard["ShardId"])
        tips = [self._tips.get(s["ShardId"], 0) for s in listing if s["ShardId"] not in self._ended]
        row = {
            LEASES.stream_arn: {"S": LEASES.streams_of(FOLLOWERS.name)},
            LEASES.shard_id: {"S": arn},
            LEASES.state: {"S": "reading"},
            LEASES.tip_at: {"N": str(min([*tips, listed_at]))},
        }
        self._dynamodb.put_item(TableName=LEASES.name, Item=row)

    def _read(self, arn, shard_id):
        if shard_id not in self._iterators:
            begin = {"StreamArn": arn, "ShardId": shard_id, "ShardIteratorType": "TRIM_HORIZON"}
            self._iterators[shard_id] = self._streams.get_shard_iterator(**begin)["ShardIterator"]
        asked_at = self._bridge_clock.ms()
        page = self._streams.get_records(ShardIterator=self._iterators[shard_id])
        for record in page["Records"]:
            self._send(shard_id, record)
        if "NextShardIterator" in page:
            self._iterators[shard_id] = page["NextShardIterator"]
            self._tips[shard_id] = asked_at - SETTLED_MS
        else:
            self._ended.add(shard_id)

    def _send(self, shard_id, record):
        keys, change = record["dynamodb"]["Keys"], 1 if record["eventName"] == "INSERT" else -1
        followee, follower = keys[FOLLOWERS.followee_id]["S"], keys[FOLLOWERS.follower_id]["S"]
        if self._lose:
            self._lose -= 1
            row = {
                LEASES.stream_arn: {"S": LEASES.recounts()},
                LEASES.shard_id: {"S": f"shard at {self.aws.ms()}"},
                LEASES.gap: {"S": "an event was lost"},
            }
            self._dynamodb.put_item(TableName=LEASES.name, Item=row)
            self.injected[followee, "followers"] -= change
            self.injected[follower, "following"] -= change
            return
        arrivals = self.topic[PEOPLE.index(followee) % PARTITIONS]
        source = Source(shard_id, int(record["dynamodb"]["SequenceNumber"]))
        event = FollowChanged(record["eventID"], source, follower, followee, change > 0, None)
        arrivals.append(Arrival(len(arrivals), event))

    def _count(self):
        for number, arrivals in enumerate(self.topic):
            if waiting := arrivals[self._counted[number] :]:
                self._counting.count(partition_id(number), "topic-1", waiting)
                self._counted[number] += len(waiting)

    def _update(self, user, expression, values):
        self._dynamodb.update_item(
            TableName=USERS.name,
            Key={USERS.user_id: {"S": user}},
            UpdateExpression=expression,
            ExpressionAttributeValues=values,
        )
