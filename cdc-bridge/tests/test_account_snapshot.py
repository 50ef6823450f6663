"""After a snapshot the topic's last message of each account is its state, whatever others wrote and told meanwhile."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdc_bridge.account_snapshot import TOPIC, TRIES, Snapshot
from cdc_bridge.account_states import state_of
from cdc_bridge.dynamo_accounts import PAGE, Accounts
from cdc_bridge.dynamo_streams import Streams
from cdc_bridge.images import Row
from cdc_bridge.lineage import ShardKey
from cdc_bridge.message import messages_for
from cdc_bridge.owed_snapshots import OwedSnapshots
from contracts.examples import codec
from murmuration_testkit.unkind_aws import KilledError, UnkindAws, Unkindness

from .memory import MemoryLeases
from .records import user

CODEC = codec(TOPIC)
CODECS = {TOPIC.name: CODEC}
NOW = 1_700_000_000_000
PEOPLE = [f"user-{n}" for n in range(6)]
AS_IT_WAS = {"display_name": "Old", "version": 3}
occurred: Counter[str] = Counter()


def told(messages):
    """Return what each account's messages say, in order: a name and a version, or the end."""
    found = {}
    for message in messages:
        event = CODEC.decode(message.value) if message.value else None
        found.setdefault(message.key.decode(), []).append(event and (event.display_name, event.version))
    return found


class Rows:
    """Accounts in memory: what each look at them shows; the last look for good."""

    def __init__(self, **looks):
        self.looks = {user_id: [*rows] for user_id, rows in looks.items()}

    def page(self, _):
        return self.again(self.looks), None

    def again(self, user_ids):
        now = {name: rows.pop(0) if len(rows) > 1 else rows[0] for name, rows in self.looks.items() if name in user_ids}
        return {name: Row("the row", user(**{"user_id": name} | row)) for name, row in now.items() if row is not None}


def snapshot(**looks):
    """Tell these accounts; return what was told and what became of the page."""
    log = []
    page = Snapshot(Rows(**looks), CODEC, log.extend).page(None)
    return log, page


def test_an_account_older_than_the_stream_is_told_once():
    """As the contract's example has it: from a snapshot, sequence 0."""
    (message,), page = snapshot(ann=[{"display_name": "Ann"}])
    event = CODEC.decode(message.value)
    assert (event.event_id, event.source.shard_id, event.source.sequence_number) == ("snapshot-ann-0", "snapshot", 0)
    assert (event.display_name, event.version, event.occurred_at) == ("Ann", 0, None)
    assert message.headers == TOPIC.headers(event)
    assert page == (None, 1, 0, 0)


def test_what_changed_meanwhile_is_told_again_until_it_stands_still():
    """The bridge's message of the change may lie before ours, which was older."""
    log, page = snapshot(
        ann=[{"version": 1}, {"version": 2}, {"version": 2}],
        bob=[{"version": 7}],
        tom=[{"version": 1}, {"version": 2, "deleted_at": 9}],
        eve=[{"version": 1}, None],
    )
    assert told(log) == {
        "ann": [("Ann", 1), ("Ann", 2)],
        "bob": [("Ann", 7)],
        "tom": [("Ann", 1), (None, 2), None],
        "eve": [("Ann", 1), None],
    }
    assert page == (None, 4, 0, 0)


def test_a_deleted_account_is_told_with_its_tombstone():
    """Its deletion may have been lost in the gap for which the snapshot is owed."""
    log, _ = snapshot(ann=[{"display_name": None, "version": 5, "deleted_at": 9}])
    assert told(log) == {"ann": [(None, 5), None]}


def test_counts_without_a_profile_are_nobody():
    log, page = snapshot(ann=[{"created_at": None}])
    assert (log, page.told) == ([], 0)


def test_a_row_that_breaks_its_contract_holds_up_nobody(caplog):
    """It is named, with the attribute."""
    log, page = snapshot(ann=[{"created_at": "yesterday"}], bob=[{"version": 1}], tom=[{"followers_count": 2**70}])
    assert (told(log), page.broken) == ({"bob": [("Ann", 1)]}, 2)
    assert {record.user_id for record in caplog.records} == {"ann", "tom"}


def test_who_never_stands_still_is_left_to_the_bridge():
    """It tells of them all the time; the others are not kept waiting."""
    log, page = snapshot(ann=[{"version": n} for n in range(99)], bob=[{"version": 1}])
    assert {name: len(states) for name, states in told(log).items()} == {"ann": TRIES, "bob": 1}
    assert (page.told, page.moving) == (2, 1)


class World:
    """Accounts on an AWS whose calls others interleave: who writes them, and a bridge that lags and tells of it."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.aws = UnkindAws(seed)
        self.topic, self.untold, self.read_to = [], [], None
        for name in PEOPLE:
            self.aws.put("users", user(**{"user_id": name} | AS_IT_WAS))
        self.arn = self.aws.switch_stream_on("users").arn
        self.dynamodb = self.aws.client("dynamodb")
        self.streams = Streams(self.dynamodb, self.aws.client("dynamodbstreams"))
        self.leases = MemoryLeases()
        self.steps_to_live = self.chance.randrange(60)

    def others(self, *_):
        """Do what others do between two steps of the snapshot; it may be its last."""
        for _ in range(self.chance.randrange(4)):
            self.chance.choice([self.write, self.bridge])()
        self.steps_to_live -= 1
        if self.steps_to_live == 0:
            occurred["killed"] += 1
            raise KilledError

    def write(self):
        """Write a row as the services do."""
        name = self.chance.choice(PEOPLE)
        item = {attribute: {**value} for attribute, value in self.row(name).items()}
        item["version"] = {"N": str(int(item["version"]["N"]) + 1)}
        if self.chance.random() < 0.1:
            item.pop("display_name", None)
            item |= user(created_at=None, display_name=None, user_id=name, deleted_at=NOW)
        elif "deleted_at" not in item:
            item |= user(name, f"name {self.chance.randrange(99)}")
        self.aws.put("users", item)

    def row(self, name):
        return next(item for item in self.aws.items("users") if item["user_id"]["S"] == name)

    def bridge(self, *, drain=False):
        """Tell one change, or all."""
        with self.aws.kind():
            for shard in self.streams.shards(self.arn):
                records = self.streams.open(self.arn, shard.shard_id).read(self.read_to).records
        key = ShardKey("users", self.arn, shard.shard_id)
        for record in records if drain else records[:1]:
            self.topic += messages_for(key, record, CODECS)
            self.read_to = record["dynamodb"]["SequenceNumber"]

    def publish(self, messages):
        self.others()
        self.topic += messages
        occurred["told again"] += len(messages) < len(PEOPLE)
        self.others()

    def snapshot(self):
        """Run a snapshot as the job does, with pages of two."""
        self.aws.meanwhile = self.others
        run = OwedSnapshots(self.leases, "users", lambda: NOW)
        one = Snapshot(Accounts(self.dynamodb, "", lambda: None, page=2), CODEC, self.publish)
        last = run.begin()
        while last := (page := one.page(last)).last:
            run.save(last)
        run.end()
        occurred["moving"] += page.moving
        self.aws.meanwhile = lambda *_: None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_the_last_message_of_each_account_is_its_state(seed):
    """Also when the snapshot is killed anywhere and run again; rows from before the stream included."""
    world = World(seed)
    world.aws.unkind[Unkindness.INTERLEAVING] = 0.8
    while True:
        try:
            world.snapshot()
            break
        except KilledError:
            continue
    world.bridge(drain=True)
    last = {message.key.decode(): message.value for message in world.topic}
    for name in PEOPLE:
        state = state_of(Row("the row", world.row(name)))
        if state.deleted_at is None:
            assert CODEC.decode(last[name]).display_name == state.display_name
        else:
            assert last[name] is None


def test_it_was_killed_and_had_to_tell_again():
    """Else the test above proves little."""
    assert occurred["killed"] > 10, "run this file as a whole"
    assert occurred["told again"] > 10


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def accounts(request):
    """Return what puts rows, and the table's reader."""
    if request.param == "memory":
        aws = UnkindAws()
        return lambda item: aws.put("users", item), Accounts(aws.client("dynamodb"), "", lambda: None)
    prefix, dynamodb = request.getfixturevalue("own_prefix"), request.getfixturevalue("dynamodb")
    return (
        lambda item: dynamodb.put_item(TableName=f"{prefix}users", Item=item),
        Accounts(dynamodb, prefix, lambda: None),
    )


def test_pages_have_every_row_once_with_all_that_a_state_is_made_of(accounts):
    """And nothing else of it; who is asked for again and is not there is left out."""
    put, table = accounts
    names = {f"user-{n}" for n in range(PAGE + 5)}
    for name in names:
        put(user(name, version=2, is_private=True, erasure="due"))
    first, last = table.page(None)
    second, end = table.page(last)
    assert (len(first), {*first} | {*second}, end) == (PAGE, names, None)
    assert len(first) + len(second) == len(names)
    assert all(state_of(row).is_private and "erasure" not in row for row in first.values())
    assert {*table.again(["user-1", "user-2", "nobody"])} == {"user-1", "user-2"}
