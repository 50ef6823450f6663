"""What differs for good is repaired, what is on its way never, in whatever order the world goes on meanwhile."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from count_aggregator.dynamo_accounts import Look
from count_aggregator.reconcile import ROUNDS, Reconciliation
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.kafka import KafkaAwayError
from murmuration_worker.zero_lag import NeverStillError

USER = "alice"
PARTITION = ("FollowChanged", 0)
APART = 5.0


class World:
    """One account, whose rows change, are published and are counted whenever the choice says so."""

    def __init__(self, drift=0, choose=lambda: "nothing"):
        self.rows = 100
        self.count = 100 + drift
        self.version = 1
        self.unpublished = []  # when each change was committed, and what it was
        self.topic = []
        self.counted = 0
        self.ms = 1_000_000.0
        self.down = set()
        self.repairs = []
        self.looked_at = []
        self._choose = choose

    def commit(self, change):
        self.rows += change
        self.unpublished.append((self.ms, change))

    def live(self, action=None):
        """Let one thing happen."""
        self.ms += 100
        action = action or self._choose()
        if action in ("follow", "unfollow"):
            self.commit(1 if action == "follow" else -1)
        elif action == "publish" and self.unpublished and "bridge" not in self.down:
            self.topic.append(self.unpublished.pop(0)[1])
        elif action == "count" and self.counted < len(self.topic):
            self.count += self.topic[self.counted]
            self.version += 1
            self.counted += 1

    def on_its_way(self):
        return sum(self.topic[self.counted :]) + sum(change for _, change in self.unpublished)

    # Accounts
    def look(self, _):
        self.looked_at.append(self.ms)
        count, version = self.count, self.version
        self.live()
        return Look(count, 0, version, self.rows, 0)

    def following(self, users):
        self.live()
        return dict.fromkeys(users, 0)

    def repair(self, _, look):
        self.live()
        if self.version != look.version:
            return False
        self.count += look.drift[0]
        self.version += 1
        self.repairs.append(look.drift[0])
        return True

    # Bridge
    def published_until(self):
        self.live()
        if self.unpublished:
            return self.unpublished[0][0] - 1
        return self.looked_at[-1] - 1 if "bridge" in self.down else self.ms

    # Kafka
    def ends(self):
        self.live()
        return {PARTITION: len(self.topic)}

    def committed(self):
        self.live()
        return {PARTITION: self.counted}

    def reconciliation(self, patience_seconds=60.0, apart_seconds=APART):
        def sleep(seconds):
            self.ms += seconds * 1000
            self.live()

        return Reconciliation(
            self,
            self.published_until,
            self.ends,
            self.committed,
            patience_seconds,
            apart_seconds,
            now=lambda: self.ms / 1000,
            sleep=sleep,
        )


@settings(max_examples=300, deadline=None)
@given(
    st.integers(-3, 3), st.lists(st.sampled_from(["follow", "unfollow", "publish", "count"]), max_size=60), st.data()
)
def test_whatever_happens_meanwhile_only_drift_is_repaired(drift, past, data):
    """Between any two steps of the job somebody may follow, be published or be counted; each repair is exact."""
    left = iter(range(data.draw(st.integers(0, 200))))

    def choose():
        choices = ["follow", "unfollow", "publish", "count"] if next(left, None) is not None else ["publish", "count"]
        return data.draw(st.sampled_from(choices))

    world = World(drift, choose)
    for action in past:
        world.live(action)
    try:
        summary = world.reconciliation().run([USER])
    except NeverStillError:
        assert world.repairs == []
        return
    assert sum(world.repairs) in (0, -drift)
    assert world.count + world.on_its_way() - world.rows == drift + sum(world.repairs)
    assert bool(world.repairs) == bool(summary.repaired)


def test_a_healthy_account_is_looked_at_once():
    """Nothing is waited for where nothing differs."""
    world = World()
    summary = world.reconciliation().run([USER])
    assert (summary.checked, summary.drifted, summary.repaired, summary.busy) == (1, [], [], {})
    assert len(world.looked_at) == 1


@pytest.mark.parametrize("drift", [-7, 9])
def test_drift_is_repaired_by_its_difference(drift):
    """In either direction, and reported."""
    world = World(drift)
    summary = world.reconciliation().run([USER])
    assert (summary.drifted, summary.repaired, world.repairs) == ([USER], [USER], [-drift])


def test_a_bridge_that_is_down_is_waited_for():
    """A row whose event is not even published is no drift: a minute later the bridge is back; nothing is repaired."""
    world = World()
    world.down.add("bridge")
    world.commit(+1)

    def choose():
        if world.ms > 1_000_000 + 60_000:
            world.down.clear()
            return "publish" if world.unpublished else "count"
        return "nothing"

    world._choose = choose  # noqa: SLF001
    summary = world.reconciliation(patience_seconds=120).run([USER])
    assert world.ms > 1_000_000 + 60_000
    assert (summary.drifted, world.repairs, world.count) == ([], [], 101)


def test_what_never_stands_still_is_left_alone_and_named():
    """After some rounds it is for the next run; what its drift seems to be is said."""
    world = World(5)

    def choose():
        world.version += 1
        return "nothing"

    world._choose = choose  # noqa: SLF001
    summary = world.reconciliation().run([USER])
    assert (summary.busy, summary.busy_drifted, world.repairs) == ({USER: (-5, 0)}, [USER], [])
    assert len(world.looked_at) == 2 * ROUNDS


def test_patience_ends_with_a_reason():
    """Whoever is away is named."""
    world = World(5)

    def away():
        raise StoreAwayError("no route")

    world.published_until = away
    with pytest.raises(NeverStillError, match=r"the bridge to publish.*no route"):
        world.reconciliation(patience_seconds=3).run([USER])
    world = World(5)

    def gone():
        raise KafkaAwayError("no broker")

    world.committed = gone
    with pytest.raises(NeverStillError, match=r"the aggregator to count.*no broker"):
        world.reconciliation(patience_seconds=3).run([USER])
    assert world.repairs == []


@pytest.mark.parametrize("ahead_ms", [0, 4_900, 60_000])
def test_the_bridges_clock_may_be_ahead(ahead_ms):
    """What it says is believed of a moment `apart` earlier; and by our own clock the looks are as far apart."""
    world = World(5)
    at_first = world.ms
    world.published_until = lambda: at_first + ahead_ms + (world.ms - at_first) / 10
    assert world.reconciliation(600).run([USER]).repaired == [USER]
    first, second = world.looked_at
    assert second - first >= APART * 1000
    assert at_first + ahead_ms + (second - at_first) / 10 > first + APART * 1000


def test_a_topic_that_is_made_again_is_waited_for_by_its_own_ends():
    """What the old one held is lost or counted; its ends are nobody's any more."""
    world, topic_id = World(5), ["old"]
    world.ends = lambda: {(topic_id[0], 0): 500 if topic_id[0] == "old" else 3}
    counted = {"old": 400, "new": 3}
    world.committed = lambda: {(topic_id[0], 0): counted[topic_id[0]]}

    def choose():
        topic_id[0] = "new" if world.ms > 1_000_000 + 20_000 else "old"
        return "nothing"

    world._choose = choose  # noqa: SLF001
    assert world.reconciliation().run([USER]).repaired == [USER]
    assert topic_id == ["new"]


def test_events_on_their_way_do_not_hide_what_is_to_be_proved():
    """One event is missing, one is on its way to make up for it: at a glance all is well."""
    world = World(-1)
    world.commit(-1)
    assert world.reconciliation().run([USER]).drifted == []
    world._choose = lambda: "publish" if world.unpublished else "count"  # noqa: SLF001
    assert world.reconciliation().run([USER], prove=True).repaired == [USER]
    assert world.repairs == [1]


def test_whom_somebody_follows_is_counted_in_the_table_before_it_is_repaired():
    """The index says 9 for an hour; the table says what is true. What it does not show is for the next round."""
    for in_table, repairs in ((9, [-1]), (10, [])):
        world = World()
        made = []
        world.look = lambda _, world=world: world.live() or Look(100, 10, world.version, 100, 9)
        world.following = lambda users, n=in_table: dict.fromkeys(users, n)
        world.repair = lambda _, look, made=made: made.append(look.drift[1]) or True
        summary = world.reconciliation().run([USER])
        assert (made, [*summary.busy]) == (repairs, [] if repairs else [USER])


def test_the_top_accounts_tolerate_what_nobody_notices():
    """Drift of 0.1 % is left; more is repaired."""
    for drift, repairs in ((1, []), (2, [-2])):
        world = World(drift)
        world.rows, world.count = 1000, 1000 + drift
        world.reconciliation().run([USER], tolerance=0.001)
        assert world.repairs == repairs


def test_a_negative_count_is_an_alarm():
    """It is repaired like any other, and named."""
    world = World(-101)
    assert world.reconciliation().run([USER]).negative == [USER]


def test_drift_is_logged_in_fields(caplog):
    """Whoever looks for it searches for numbers, not for a text."""
    World(-7).reconciliation().run([USER])
    (record,) = caplog.records
    assert (record.message, record.user_id, record.followers_drift, record.following_drift) == ("drift", USER, 7, 0)
    assert (record.followers_count, record.followers, record.version) == (93, 100, 1)
