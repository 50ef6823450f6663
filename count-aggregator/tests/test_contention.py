"""One user who is in everybody's transactions holds up nobody else for long."""

import threading
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from count_aggregator.contention import CALM_SECONDS, LONGEST_SECONDS, MOST, SHORTEST_SECONDS, Contention
from count_aggregator.counting import MOST_CONFLICTS, Counting
from count_aggregator.ledger import ContendedError
from count_aggregator.tally import tally
from murmuration_testkit.waiting import eventually

from .conftest import arrivals, event, handle, truth
from .memory import MemoryLedger

PARTITION = "FollowChanged/0"
TOPIC_ID = "topic-1"
BOT = "bot"


class Held(MemoryLedger):
    """A ledger in which others hold the bot's row, so many times in a row."""

    def __init__(self, times):
        super().__init__()
        self.tried = []
        self._times = times

    def write(self, partition_id, result, *others):
        self.tried.append(sorted(result.users))
        if BOT in result.users and self._times:
            self._times -= 1
            raise ContendedError("held", frozenset([BOT]))
        super().write(partition_id, result, *others)


def follows(*followers):
    return arrivals([event(n, follower, f"star-{n}") for n, follower in enumerate(followers, 1)])


def test_whoever_comes_before_a_contended_user_is_counted_without_them():
    """The first conflict names the bot; then the others are written, and the bot tries its luck."""
    ledger = Held(times=3)
    batch = follows("alice", "bob", BOT, "carol")
    Counting(ledger, sleep=lambda _: None).count(PARTITION, TOPIC_ID, batch)
    before, with_bot = ["alice", "bob", "star-1", "star-2"], [BOT, "carol", "star-3", "star-4"]
    assert ledger.tried == [sorted([*before, *with_bot]), before, with_bot, with_bot, with_bot]
    assert (+ledger.followers, +ledger.following) == truth([one.event for one in batch])
    assert ledger.asked == 1  # nothing that was loaded had changed


def test_conflicts_without_an_end_are_a_store_that_does_not_get_on():
    """libs/worker then says so, and gives the batch again."""
    ledger, given = Held(times=MOST_CONFLICTS + 1), count()
    counting = Counting(ledger, sleep=lambda _: None)
    handle(counting, PARTITION, TOPIC_ID, follows(BOT), sleep=lambda _: next(given))
    assert (next(given), ledger.following[BOT]) == (1, 1)


@given(st.lists(st.sampled_from("abcdef"), max_size=12), st.sets(st.sampled_from("abcdef"), max_size=3))
def test_a_transaction_holds_contended_users_only_from_its_first_event(followers, contended):
    """And whatever the cuts, each event is counted once."""
    rest, marks, counted = follows(*followers), {}, 0
    while rest:
        one = tally(rest, marks, 99, contended=contended)
        first = {rest[0].event.follower_id}
        assert one.users & contended <= first
        counted += sum(one.following.values())
        marks |= one.watermarks
        rest = rest[one.taken :]
    assert counted == len(followers)


def test_partitions_of_a_process_take_turns_at_a_contended_user_and_at_nobody_else():
    """The second waits until the first has written."""
    contention = Contention()
    contention.note([BOT])
    inside, out = [], threading.Event()

    def second():
        with contention.turn([BOT, "bob"]):
            inside.append(out.is_set())

    waiting = threading.Thread(target=second)
    with contention.turn([BOT, "alice"]):
        with contention.turn(["alice", "carol"]):  # whoever is not contended: nobody waits
            waiting.start()
        out.set()
    waiting.join()
    assert inside == [True]


def test_a_turn_that_does_not_come_is_not_waited_for_for_ever():
    """Its holder may hang in a call."""
    contention = Contention()
    contention.note([BOT])
    with contention.turn([BOT]), contention.turn([BOT]):
        pass


def test_a_user_is_forgotten_when_it_is_calm_and_only_so_many_are_remembered():
    """What was contended an hour ago costs nobody a transaction of their own."""
    now = [0.0]
    contention = Contention(clock=lambda: now[0])
    contention.note([BOT])
    now[0] = CALM_SECONDS
    assert contention.users() == {BOT}
    now[0] += 0.1
    assert contention.users() == set()
    contention.note([f"user-{n}" for n in range(MOST + 5)])
    assert len(contention.users()) == MOST


@given(st.integers(1, 60), st.floats(0, 1))
def test_pauses_are_drawn_by_chance_and_favour_whoever_has_waited_longest(conflicts, drawn):
    """Two that met once need not meet again, and nobody is overtaken for ever."""
    longest = Contention(draw=lambda: 1)
    assert Contention(draw=lambda: drawn).pause(conflicts) == drawn * longest.pause(conflicts)
    assert LONGEST_SECONDS >= longest.pause(conflicts) >= longest.pause(conflicts + 1) >= SHORTEST_SECONDS


def test_turns_come_in_the_order_in_which_they_were_asked_for():
    """And whoever has gone without one is not waited for."""
    contention, order = Contention(), []
    contention.note([BOT])

    def write(number):
        with contention.turn([BOT]):
            order.append(number)

    lanes = [threading.Thread(target=write, args=(number,)) for number in range(5)]
    with contention.turn([BOT]):
        for number, lane in enumerate(lanes, 2):
            lane.start()
            eventually(lambda: contention.waiting(BOT), number)
    for lane in lanes:
        lane.join()
    assert order == [0, 1, 2, 3, 4]
