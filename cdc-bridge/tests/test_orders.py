"""An operator sees everything and changes one thing, against any owner."""

import pytest

from cdc_bridge.gaps import repair_of
from cdc_bridge.leases import LeaseLostError
from cdc_bridge.lineage import Row, State
from cdc_bridge.orders import OrderError, Orders

from .memory import MemoryLeases, hold, take

ARN = "arn:followers/1"
SNAPSHOT = "the job of snapshots tells every account's state by itself: `python -m cdc_bridge snapshot users`"
NOW = 1_700_000_000_000


@pytest.fixture
def leases():
    """One table, one stream, one topic, and a shard that somebody reads."""
    leases = MemoryLeases()
    leases.note("table/followers", Row(ARN, State.READING, tip_at=NOW - 500))
    leases.note("topics", Row("FollowChanged", State.READING, position="id"))
    return leases


@pytest.fixture
def lease(leases):
    """The reader's right, at position 7, one and a half seconds behind."""
    lease = hold(leases, ARN, "shard", lambda: NOW - 1500)
    lease.checkpoint("7")
    lease.renew()
    return lease


@pytest.fixture
def orders(leases):
    return Orders(leases, ["followers", "tweets"])


def shard(leases):
    return leases.rows(ARN)["shard"]


@pytest.mark.usefixtures("lease")
def test_the_list_shows_owner_state_position_lag_and_gap(orders, leases):
    leases.note(ARN, Row("other", State.GAP, gap="unreadable: trimmed"))
    leases.note("snapshots", Row("arn:users/1 at 5", State.GAP, gap="older rows"))
    leases.note("snapshots", Row("users", State.READING, position="ann"))
    steps = (
        "`python -m cdc_bridge clear other`, then "
        "count-reconciler recounts by itself; `python -m fanout_worker cold --all`"
    )
    assert list(orders.shards(NOW)) == [
        "followers  arn:followers/1  reading  published until 0.5 s ago",
        "followers  other  gap  owner nobody  position none  never read to its tip  GAP unreadable: trimmed; next: "
        + steps,
        "followers  shard  reading  owner me  position 7  published until 1.5 s ago",
        "topic  FollowChanged  reading",
        "snapshot  arn:users/1 at 5  OWED older rows",
        "snapshot  users  reading  behind ann",
    ]


@pytest.mark.parametrize(
    ("table", "name", "repair"),
    [
        ("followers", "shardId-1", "count-reconciler recounts by itself; `python -m fanout_worker cold --all`"),
        ("blocks", "shardId-1", "`python -m fanout_worker cold --all`"),
        ("users", "shardId-1", SNAPSHOT),
        ("topics", "UserChanged", SNAPSHOT),
        ("topics", "UserChanged.dlq", SNAPSHOT),
        ("topics", "MuteChanged-2", "`python -m fanout_worker cold --all`"),
        ("topics", "FollowRequestChanged", "nothing here: who was to be notified of a request in the meantime was not"),
    ],
)
def test_what_repairs_a_gap_goes_by_what_was_lost(table, name, repair):
    """Of a topic that grew too, whose name has a number."""
    assert repair_of(table, name) == repair


def test_a_released_shard_is_anybodys_and_its_owner_writes_nothing_more(orders, leases, lease):
    """The position stays: nothing is repeated but the page in hand."""
    orders.release("shard")
    assert (shard(leases).owner, shard(leases).position, shard(leases).state) == (None, "7", State.READING)
    with pytest.raises(LeaseLostError):
        lease.renew()


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("to", "state", "position"),
    [("TRIM_HORIZON", State.LEFT, None), ("LATEST", State.SKIPPING, None), ("5", State.READING, "5")],
)
def test_seeking_sets_where_the_next_owner_begins(orders, leases, to, state, position):
    """Backwards too, which no bridge may do."""
    orders.seek("shard", to, NOW)
    taken = take(leases, ARN, "shard", "you", NOW)
    assert (taken.state, taken.position, taken.since) == (state, position, NOW)


@pytest.mark.usefixtures("lease")
def test_a_place_that_is_none_is_refused(orders, leases):
    before = shard(leases)
    with pytest.raises(OrderError, match="'latest' is neither"):
        orders.seek("shard", "latest", NOW)
    assert shard(leases) == before


def test_a_cleared_gap_lets_what_is_left_be_read(orders, leases, lease):
    """And no longer shows."""
    lease.fail("unreadable: trimmed")
    orders.clear("shard", NOW)
    taken = take(leases, ARN, "shard", "you", NOW)
    assert (taken.state, taken.position, shard(leases).gap) == (State.LEFT, None, None)


@pytest.mark.parametrize("name", [ARN, "FollowChanged"])
def test_a_cleared_gap_of_a_stream_or_a_topic_lets_it_go_on(orders, leases, name):
    """A topic's id is kept, or it would seem to be made again."""
    of = "table/followers" if name == ARN else "topics"
    was = leases.rows(of)[name]
    leases.overrule(of, was, Row(name, State.GAP, position=was.position, gap="lost"))
    orders.clear(name, NOW)
    row = leases.rows(of)[name]
    assert (row.state, row.position, row.gap) == (State.READING, was.position, None)


@pytest.mark.usefixtures("lease")
@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("clear shard", "no gap"),
        ("release nobody", "no shard, stream or topic is called nobody"),
        (f"release {ARN}", "not a shard"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(orders, order, why):
    verb, name = order.split()
    with pytest.raises(OrderError, match=why):
        orders.clear(name, NOW) if verb == "clear" else orders.release(name)
