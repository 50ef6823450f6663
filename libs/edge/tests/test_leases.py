"""Many processes, one budget: the same promises on the fake shared buckets and on Redis."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmuration_edge import leases as module
from murmuration_edge.leases import Leases
from murmuration_edge.redis_buckets import connect
from murmuration_edge.token_buckets import Budget
from murmuration_runtime.errors import StoreAwayError
from murmuration_testkit.redis_nodes import redis_cluster, redis_node
from murmuration_testkit.waiting import eventually

CALLS = Budget("calls", 1, 100, 100)  # so slow that nothing flows in while a test runs
SLOW = Budget("follows", 1, 1_000, 20)


class SharedInMemory:
    """The shared buckets, with a clock of the test's; they can go away."""

    def __init__(self, now):
        self.now = now
        self.full_at = {}
        self.away = False
        self.lost = set()  # whose buckets live on a node that is away
        self.asked = 0

    def charge(self, charges):
        self.asked += 1
        if self.away:
            raise StoreAwayError("Redis did not answer")
        if self.lost.issuperset(each.caller_id for each in charges):
            raise StoreAwayError("one node of Redis did not answer")
        answers = []
        for budget, caller_id, tokens in charges:
            if caller_id in self.lost:
                answers.append(None)
                continue
            key = budget.name, caller_id
            full_at = max(self.full_at.get(key, 0.0), self.now())
            self.full_at[key] = min(
                full_at + tokens / budget.rate, max(full_at, self.now() + 2 * budget.burst / budget.rate)
            )
            answers.append(self.full_at[key] - self.now())
        return answers


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def let_through(process, calls, caller_id="alice", budget=CALLS, cost=1):
    return sum(process.take(budget, caller_id, cost).wait <= 0 for _ in range(calls))


class SharedContract:
    """What holds whoever keeps the shared buckets."""

    def test_two_processes_together_give_the_budget_and_at_most_a_batch_each_besides(self, shared):
        """The formula of the README: burst + rate * t + n * batch."""
        one, two = (Leases([CALLS], shared) for _ in range(2))
        got = sum(let_through(process, 7) for _ in range(30) for process in (one, two))
        assert CALLS.burst <= got <= CALLS.burst + 2 * CALLS.batch

    def test_one_process_gives_the_budget_and_no_more(self, shared):
        """Also when its sixteen threads ask at once."""
        process = Leases([CALLS], shared)
        with ThreadPoolExecutor(16) as threads:
            got = sum(threads.map(lambda _: let_through(process, 25), range(16)))
        assert got == CALLS.burst

    def test_what_one_process_gave_the_other_knows_within_a_turn(self, shared):
        """Even if it was less than a batch."""
        one, two = (Leases([SLOW], shared) for _ in range(2))
        let_through(one, 19, budget=SLOW)
        let_through(two, 1, budget=SLOW)
        one.turn()
        two.turn()
        assert let_through(two, 5, budget=SLOW) == 0

    def test_callers_and_budgets_do_not_share(self, shared):
        """Whoever spent everything leaves the others theirs, and their own other budgets."""
        process = Leases([CALLS, SLOW], shared)
        assert let_through(process, 200) == CALLS.burst
        assert let_through(process, 1, "bob") == 1
        assert let_through(process, 1, budget=SLOW) == 1


@pytest.fixture(scope="module")
def node():
    with redis_node("--maxmemory-policy", "volatile-ttl") as node:
        yield node


class TestSharedInMemory(SharedContract):
    @pytest.fixture
    def shared(self):
        return SharedInMemory(time.monotonic)


@pytest.mark.stack(shared=False)
class TestSharedInRedis(SharedContract):
    @pytest.fixture
    def shared(self, node):
        node.redis.flushall()
        return connect(node.url)

    def test_a_bucket_is_gone_when_it_is_full(self, node, shared):
        """Redis holds nobody who has not called for a while."""
        quick = Budget("calls", 1_000, 1, 100)
        process = Leases([quick], shared)
        let_through(process, 60, budget=quick)
        process.turn()
        assert 0 < node.redis.pttl("limit:calls:{alice}") <= 60
        ((full_in,),) = [shared.charge([module.Charge(quick, "alice", 1)])]
        assert 0 < full_in < 0.07

    def test_a_process_whose_redis_hangs_goes_on_alone_at_once(self, node, shared):
        """One call waits for a tenth of a second, and no other; a caller then has the whole budget in each process."""
        process = Leases([CALLS], shared)
        let_through(process, 1, "bob")
        process.turn()
        node.pause()
        try:
            waits = []
            for _ in range(150):
                began = time.monotonic()
                process.take(CALLS, "alice", 1)
                waits.append(time.monotonic() - began)
            assert sum(wait > 0.05 for wait in waits) <= 1, sorted(waits)[-3:]
            assert max(waits) < 0.5
            assert let_through(Leases([CALLS], shared), 150) == CALLS.burst
        finally:
            node.resume()


@pytest.mark.stack(shared=False)
def test_a_call_is_charged_once_whatever_another_node_does(caplog):
    """Each second the process tries again to tell a node that is away; what the others took they do not take again."""
    slow = Budget("follows", 1, 1_000, 200)
    with redis_cluster(2) as cluster:
        for node in cluster.nodes:
            node.redis.config_set("cluster-require-full-coverage", "no")
        lost = cluster.owner("limit:follows:{bob}")
        kept = next(name for name in "acdefgh" if cluster.owner(f"limit:follows:{{{name}}}") is not lost)
        process = Leases([slow], connect(cluster.url))
        assert [let_through(process, 1, name, slow) for name in ("bob", kept)] == [1, 1]
        process.turn()
        lost.kill()
        for turn in range(100):
            let_through(process, 1, "bob", slow)
            let_through(process, 1 if turn < 49 else 0, kept, slow)
            process.turn()
        bucket = cluster.owner(f"limit:follows:{{{kept}}}").redis.pttl(f"limit:follows:{{{kept}}}")
        assert 49_000 < bucket / 1_000 <= 50_000
        assert let_through(Leases([slow], connect(cluster.url)), 250, kept, slow) == 150
        assert let_through(process, 250, "bob", slow) == 99
        lost.start()
        eventually(lambda: process.turn() or caplog.messages[-1], "callers are counted together again")


@pytest.mark.stack(shared=False)
def test_a_redis_that_refuses_the_password_is_named_in_the_log(node, caplog):
    """Nobody is refused for it; somebody has to correct it."""
    node.redis.config_set("requirepass", "right")
    try:
        process = Leases([CALLS], connect(node.url))
        assert let_through(process, 150) == CALLS.burst
        (line,) = [each for each in caplog.records if each.message == "each process counts its callers alone"]
        assert "refuses this process" in line.reason
    finally:
        node.redis.config_set("requirepass", "")


def test_a_call_asks_the_others_only_once_in_a_batch():
    """A page costs no call of Redis: ten calls in a batch of ten tokens, and then one call."""
    shared = SharedInMemory(time.monotonic)
    process = Leases([CALLS], shared)
    assert let_through(process, CALLS.batch) == CALLS.batch
    assert shared.asked == 0
    let_through(process, CALLS.batch)
    assert shared.asked == 1


def test_alone_each_process_gives_the_whole_budget():
    """The other formula: n * (burst + rate * t)."""
    assert [let_through(Leases([CALLS], None), 150) for _ in range(2)] == [CALLS.burst] * 2


def test_while_the_others_are_away_only_a_turn_asks_for_them():
    """Callers do not wait for what has just failed; when it is back, what was spent meanwhile counts."""
    clock = Clock()
    shared = SharedInMemory(clock)
    process = Leases([CALLS], shared, clock)
    shared.away = True
    assert let_through(process, 150) == CALLS.burst
    assert shared.asked == 1
    process.turn()
    assert shared.asked == 2
    shared.away = False
    process.turn()
    assert let_through(Leases([CALLS], shared, clock), 150) == CALLS.batch


def test_while_one_node_is_away_the_others_count_exactly():
    """Whose bucket lives there is counted alone; who lives elsewhere pays once for each call, and in every process."""
    clock = Clock()
    shared = SharedInMemory(clock)
    shared.lost = {"bob"}
    one, two = (Leases([CALLS], shared, clock) for _ in range(2))
    for turn in range(100):
        assert [let_through(process, 1, "bob") for process in (one, two)] == [1, 1]
        let_through(one, 2 if turn < 10 else 0, "alice")
        one.turn()
    assert shared.full_at == {("calls", "alice"): clock.now + 20 / CALLS.rate}
    got = sum(let_through(process, 3, "alice") for _ in range(60) for process in (one, two))
    assert 80 <= got <= 80 + 2 * CALLS.batch
    assert let_through(one, 50, "bob") == 0


def test_who_is_counted_alone_asks_nobody_until_a_turn():
    """Also when others' nodes answer in between."""
    shared = SharedInMemory(time.monotonic)
    shared.lost = {"bob"}
    process = Leases([CALLS], shared)
    let_through(process, 30, "bob")
    let_through(process, 30, "alice")
    asked = shared.asked
    let_through(process, 50, "bob")
    assert shared.asked == asked
    shared.lost = set()
    process.turn()
    assert shared.asked == asked + 1
    assert let_through(Leases([CALLS], shared), 50, "bob") <= 20 + CALLS.batch


def test_the_log_says_once_that_some_are_counted_alone_and_once_that_none_is(caplog):
    """Not again for each caller, nor each second."""
    shared = SharedInMemory(time.monotonic)
    shared.lost = {"bob"}
    process = Leases([CALLS], shared)
    for _ in range(3):
        let_through(process, 11, "alice")
        let_through(process, 11, "bob")
        process.turn()
    shared.lost = set()
    process.turn()
    process.turn()
    assert caplog.messages == ["each process counts its callers alone", "callers are counted together again"]


def test_who_is_refused_costs_no_call_of_redis():
    """A flood is refused from memory."""
    shared = SharedInMemory(time.monotonic)
    process = Leases([CALLS], shared)
    let_through(process, 100)
    asked = shared.asked
    assert let_through(process, 1_000) == 0
    assert shared.asked <= asked + 1


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 40), st.floats(0, 50)), max_size=40), st.booleans())
def test_buckets_that_are_full_again_are_forgotten(calls, away):
    """Memory holds whoever has called of late, whether or not Redis answers."""
    clock = Clock()
    shared = SharedInMemory(clock)
    shared.away = away
    budget = Budget("calls", 10, 1, 40)
    process = Leases([budget], shared, clock)
    for caller_id, cost, pause in calls:
        process.take(budget, caller_id, cost)
        clock.now += pause
    process.turn()
    clock.now += 2 * budget.burst / budget.rate
    process.turn()
    process.turn()
    assert process._known == {"calls": {}}  # noqa: SLF001 - nothing else shows it


def test_the_memory_is_bounded(monkeypatch):
    """Beyond so many callers the oldest is forgotten."""
    monkeypatch.setattr(module, "MOST_KNOWN", 3)
    process = Leases([CALLS], None)
    for caller_id in "abcd":
        let_through(process, 100, caller_id)
    assert let_through(process, 1, "d") == 0
    assert let_through(process, 1, "a") == 1
