"""What is kept is never older than what was kept before: changes, events and fills at once, some of which die."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import (
    TOPICS,
    BlockChanged,
    FollowChanged,
    FollowRequestChanged,
    MuteChanged,
    Source,
    Tombstone,
    UserChanged,
)
from contracts.profiles import Display, Profile
from follow_service import keeper
from follow_service.cache import Kind, Member, Newest, State, corrected, first, from_text, to_text
from follow_service.cached_people import fill
from follow_service.kept_pages import Asked, hiding
from follow_service.kept_topics import PARTITIONS, TABLES
from follow_service.lists import Row
from murmuration_worker.examples import example_batches

from .memory import MemoryCache, MemoryPages
from .stepwise import Call

FANS = ("ana", "bob")
LISTS = [(Kind.FOLLOWERS, "star"), *((Kind.FOLLOWING, fan) for fan in FANS)]
SOURCE = Source("shard-1", 1)
DOINGS = st.one_of(
    st.tuples(st.just("change"), st.integers(0, 1)),
    st.tuples(st.sampled_from(["event", "step"]), st.integers(0, 9)),
    st.tuples(st.sampled_from(["replay", "kill"]), st.integers(0, 9)),
    st.tuples(st.just("fill"), st.integers(0, 2)),
    st.tuples(st.sampled_from(["rename", "read", "tell"]), st.integers(0, 9)),
)


class Tables:
    """Who follows star, the Adjacency whose index may be as old as it likes, and one person's row."""

    def __init__(self, lag):
        self.edges, self.version, self.past, self.lag = {}, 1, [{}], lag

    def toggle(self, fan, at):
        if fan in self.edges:
            del self.edges[fan]
        else:
            self.edges[fan] = at
        self.past.append({**self.edges})

    def people(self, user_ids, pairs):
        del pairs
        return {user_id: State(user_id, self.version, None) for user_id in user_ids}, set()

    def newest(self, kind, owner_id):
        lag = next(self.lag)
        return listed(kind, owner_id, self.past[max(0, len(self.past) - 1 - lag)])

    def at(self, members):
        fans = {each: each.user_id if each.kind is Kind.FOLLOWERS else each.owner_id for each in members}
        return {each: self.edges.get(fan) for each, fan in fans.items()}


def listed(kind, owner_id, edges):
    found = edges.items() if kind is Kind.FOLLOWERS else [("star", edges[owner_id])] if owner_id in edges else []
    return Newest(sorted((Row(*each) for each in found), key=lambda row: -row.at), whole=True)


class Slow:
    """One that is asked nothing before the test says so."""

    def __init__(self, stops, told):
        self._stops, self._told = stops, told

    def __getattr__(self, name):
        return lambda *asked: self._stops.ask(call=partial(getattr(self._told, name), *asked))


def call(cache, tables, do):
    asking = SimpleNamespace(exceptions=None, ask=lambda call: call())
    return Call(asking, lambda stops: do(Slow(stops, cache), Slow(stops, tables)))


class World:
    """Everything that goes on at once."""

    def __init__(self, lag):
        self.cache, self.pages, self.tables = MemoryCache(), MemoryPages(), Tables(lag)
        self.calls, self.queue, self.told, self.states, self.now = [], [], [], [], 1_000
        for each in LISTS:
            fill(self.cache, self.tables, *each)

    def do(self, what, number):
        getattr(self, what)(number)

    def change(self, number):
        self.now += 1
        self.tables.toggle(FANS[number], self.now)
        self.queue.append(FollowChanged(f"e{self.now}", SOURCE, FANS[number], "star", following=True))

    def event(self, _):
        if self.queue:
            self.told.append(event := self.queue.pop(0))
            self._start(lambda cache, tables: keeper.apply(cache, self.pages, tables, [event], 0), event)

    def replay(self, number):
        if self.told:
            event = self.told[number % len(self.told)]
            self._start(lambda cache, tables: keeper.apply(cache, self.pages, tables, [event], 0), event)

    def fill(self, number):
        self._start(lambda cache, tables: fill(cache, tables, *LISTS[number]))

    def rename(self, _):
        self.tables.version += 1
        self.states.append(Tombstone("e", SOURCE, "star", self.tables.version))

    def read(self, _):
        self._start(lambda cache, tables: cache.keep(tables.people(["star"], ())[0].values()))

    def tell(self, number):
        if self.states:
            keeper.apply(self.cache, self.pages, self.tables, [self.states[number % len(self.states)]], 0)

    def step(self, number):
        if self.calls:
            self._step(number % len(self.calls))

    def kill(self, number):
        """Kill one; its event comes again, as Kafka has not heard that it is done."""
        if self.calls:
            going, event = self.calls.pop(number % len(self.calls))
            going.step(kill=True)
            self.queue += [event] if event else []

    def settle(self):
        while self.calls or self.queue:
            self.event(0)
            while self.calls:
                self._step(len(self.calls) - 1)
        for state in reversed(self.states):
            keeper.apply(self.cache, self.pages, self.tables, [state], 0)

    def _start(self, do, event=None):
        self.calls.append((call(self.cache, self.tables, do), event))

    def _step(self, place):
        going, _ = self.calls[place]
        if not going.done:
            going.step()
        if going.done:
            del self.calls[place]


@settings(max_examples=300, deadline=None)
@given(st.lists(DOINGS, max_size=40), st.lists(st.integers(0, 5), min_size=60, max_size=60))
def test_what_is_kept_when_all_is_told_is_what_the_tables_say(doings, lags):
    """Whatever changed, filled, stood still, died and came again in whatever order, and however old the index was."""
    world = World(iter(lags * 10))
    for what, number in doings:
        world.do(what, number)
    world.settle()
    for kind, owner_id in LISTS:
        assert world.cache.newest(kind, owner_id, 9) in (None, listed(kind, owner_id, world.tables.edges))
    if "star" in world.cache.states:
        assert world.cache.states["star"].version == world.tables.version


@given(st.lists(st.integers(1, 9), max_size=9), st.integers(0, 9), st.integers(1, 9), st.booleans())
def test_a_page_ends_only_where_the_index_can_go_on(times, kept, most, whole):
    """What is shown is how the list begins, and next comes somebody of another time, or nobody."""
    rows = [Row(f"u{place}", at) for place, at in enumerate(sorted(times, reverse=True))]
    there = rows if whole else rows[:kept]
    read = Newest(there[: most + 1], whole and len(there) <= most + 1)
    if shown := first(read, most):
        told, rest = shown
        assert told == rows[: len(told)]
        assert (told == rows) if rest is None else (rest == told[-1])
        assert rest is None or len(told) == len(rows) or rows[len(told)].at < rest.at
    else:
        assert not whole or len(rows) > 1


def test_the_table_says_who_is_in_a_list_where_the_index_may_lag():
    read = Newest([Row("ana", 5), Row("bob", 3)], whole=False)
    at = {"ana": None, "cy": 4, "di": 2}
    assert corrected(read, at) == Newest([Row("cy", 4), Row("bob", 3)], whole=False)
    assert corrected(Newest(read.rows, whole=True), at).rows == [Row("cy", 4), Row("bob", 3), Row("di", 2)]


@given(st.text(min_size=1), st.booleans(), st.integers(0, 2**53), st.integers(0), st.integers(0, 2**53))
def test_a_profile_is_read_as_it_was_written(name, private, followers, following, version):
    profile = Profile("ana", name, private, followers, following, 17, Display.of(followers, following))
    for state in (State("ana", version, profile), State("ana", version, None)):
        assert from_text("ana", f"{version} {to_text(state)}") == state


def test_every_example_of_every_topic_is_taken():
    """A state is kept, a tombstone takes it away, and the row decides about an edge."""
    taken = []
    for topic in (topic for topic in TOPICS.values() if "follow-service" in topic.consumers):
        for _, batch in example_batches(topic):
            (event,) = batch.events
            taken.append(type(event))
            cache, pages = MemoryCache(), MemoryPages()
            for reader in keeper.readers_of(event):
                pages.open(reader, Asked("", "", 20))
            changes = keeper.changes_of(event)
            for each in changes:
                cache.commit(each.kind, each.owner_id, cache.begin(each.kind, each.owner_id), Newest([], whole=True))
            keeper.apply(cache, pages, SimpleNamespace(at=lambda members: dict.fromkeys(members, 7)), batch.events, 0)
            assert pages.readers == {}
            for kind, owner_id, user_id in changes:
                assert cache.newest(kind, owner_id, 9) == Newest([Row(user_id, 7)], whole=True)
            if isinstance(event, UserChanged):
                assert cache.states[event.user_id] == keeper.state_of(event)
                assert (cache.states[event.user_id].profile is None) == (event.deleted_at is not None)
                assert (event.user_id in pages.noted) == (event.deleted_at is not None)
                hides = event.deleted_at is None and not event.discoverable
                assert (hiding(event.user_id) in pages.noted) == hides
            if isinstance(event, Tombstone):
                assert cache.states[event.key] == State(event.key, event.version, None)
                assert event.key in pages.noted
    assert {*taken} == {UserChanged, Tombstone, FollowChanged, FollowRequestChanged, BlockChanged, MuteChanged}


def test_what_is_kept_is_settled_by_all_that_the_keeper_hears():
    """Each topic, each partition, each with the table behind it: one that nobody asks about could hide a block."""
    heard = {topic.name: topic for topic in TOPICS.values() if "follow-service" in topic.consumers}
    assert {*heard} == {*TABLES}
    assert len(PARTITIONS) == sum(topic.partitions for topic in heard.values())
    assert all(heard[topic].source.startswith(f"table {table}.") for topic, table in TABLES.items())


def test_whose_suggestions_an_event_changes():
    """Both whose tie it is, where either may not be shown the other."""
    ends = "e", SOURCE, "ana", "bob"
    for event, readers in (
        (FollowChanged(*ends, following=True), {"ana"}),
        (BlockChanged(*ends, blocking=True), {"ana", "bob"}),
        (MuteChanged(*ends, muting=False), {"ana", "bob"}),
    ):
        assert {*keeper.readers_of(event)} == readers


def test_who_leaves_or_hides_is_noted_as_such():
    """Whoever only hides may be a reason still."""
    state = UserChanged("e", SOURCE, "ana", 2, "Ana", False, False, 3, 3, 1)
    assert keeper.gone_in(state) == hiding("ana")
    assert keeper.gone_in(replace(state, deleted_at=3)) == "ana"
    assert keeper.gone_in(replace(state, discoverable=True)) is None


def test_who_is_in_which_lists():
    follow = FollowChanged("e", SOURCE, "ana", "bob", following=True)
    block = BlockChanged("e", SOURCE, "ana", "bob", blocking=True)
    assert [*keeper.changes_of(follow)] == [Member(Kind.FOLLOWERS, "bob", "ana"), Member(Kind.FOLLOWING, "ana", "bob")]
    assert [*keeper.changes_of(block)] == [Member(Kind.BLOCKING, "ana", "bob"), Member(Kind.BLOCKED, "bob", "ana")]


def test_who_stood_still_with_an_old_look_at_the_table_does_not_undo_a_later_one():
    """As a worker does whose partition another one took meanwhile: the list is dropped, and read anew."""
    world = World(iter([0] * 60))
    world.change(0)
    world.event(0)
    (slow, _) = world.calls.pop()
    slow.step()
    slow.step()
    world.change(0)
    world.event(0)
    world.settle()
    slow.finish()
    for kind, owner_id in LISTS:
        assert world.cache.newest(kind, owner_id, 9) in (None, Newest([], whole=True))
