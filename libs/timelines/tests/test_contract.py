"""What Redis and its scripts promise: the same tests on the fake, on Redis, and on a cluster."""

import time
import uuid
from contextlib import closing, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.ids import first_id
from murmuration_runtime.errors import RedisAwayError
from murmuration_timelines import heads, layout, reset_timelines
from murmuration_timelines.edges import PARTITIONS
from murmuration_timelines.fake import FakeNodes
from murmuration_timelines.layout import BEGINNING, CAP, SLACK, VERSION
from murmuration_timelines.merge import Run, Timeline
from murmuration_timelines.read_ahead import ReadAhead, authors_name
from murmuration_timelines.reader import TimelineReader, connect
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import TimelineWriter

from .conftest import FIRST_AT, REAL, snowflake


def ids(*places):
    return [snowflake(n) for n in places]


def timeline(user, *places, floor=BEGINNING, others=()):
    return Timeline(ids(*places), floor, Shown.of([user, *others]))


def tweet(n):
    return Tweet.written(snowflake(n), "bob", f"tweet {n}", n)


def evict(nodes, key):
    forget = getattr(nodes, "forget", None) or nodes.client.delete
    forget(key)


@pytest.mark.parametrize("kind", ["fake", *REAL], indirect=True)
class TestPromises:
    """Of a timeline, of bodies, of notes and recent tweets."""

    @pytest.fixture(params=["home", "authors"])
    def timelines(self, reader, request):
        return getattr(reader, request.param)

    @pytest.fixture
    def arrive(self, reader, writer, timelines):
        """Bring a tweet as a worker does to whom this kind of timeline belongs."""
        if timelines is reader.home:
            return lambda user, n: writer.insert(snowflake(n), [user])
        return lambda user, n: writer.insert_own(user, snowflake(n))

    @pytest.fixture
    def home(self, reader):
        return reader.home

    def test_edges_are_settled_until_the_earliest_of_all_and_that_never_moves_back(self, writer, reader, nodes):
        """Whoever says it, in whatever order; until all are said, nobody knows."""
        evict(nodes, layout.EDGES_SETTLED)
        assert reader.edges_settled() == 0
        now = int(time.time() * 1000) + 3_600_000  # later than what the stack's own worker says
        first, *others = sorted(PARTITIONS)
        writer.settle({first: now})
        writer.settle(dict.fromkeys(others, now + 5))
        assert reader.edges_settled() == now
        writer.settle({first: now + 2})
        writer.settle({first: now + 1})
        assert reader.edges_settled() == now + 2
        evict(nodes, layout.EDGES_SETTLED)

    def test_what_was_committed_is_loaded(self, timelines, somebody):
        """Ids, floor and followees come back as they went in."""
        user = somebody()
        assert timelines.load([user]) == {}
        built = timeline(user, 3, 2, 1, others=["bob"])
        assert timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_a_full_timeline_keeps_its_floor(self, timelines, somebody):
        """Without the beginning of time in it, the last id is the floor."""
        user = somebody()
        built = timeline(user, 3, 2, floor=snowflake(2))
        timelines.commit(user, timelines.begin(user), built)
        assert timelines.load([user]) == {user: built}

    def test_of_a_part_the_last_is_the_floor(self, timelines, somebody):
        """Below it Redis may know more; what it gave is complete down to there."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user, 3, 2, 1))
        assert timelines.load([user], 2) == {user: timeline(user, 3, 2, floor=snowflake(2))}
        assert timelines.load([user], 4) == {user: timeline(user, 3, 2, 1)}

    def test_what_is_held_and_has_not_changed_is_not_sent_again(self, nodes, timelines, arrive, somebody):
        """Whatever changed is noticed: an arrival above or below the head, a cut, another layout, an eviction."""
        user = somebody()
        assert timelines.look({user: None}) == {user: None}
        timelines.commit(user, timelines.begin(user), timeline(user, 5, 3, 1))
        (held,) = timelines.look({user: None}, 3).values()
        assert (held.timeline, held.asked) == (timeline(user, 5, 3, 1, floor=snowflake(1)), 3)
        for count in (2, 3):
            assert timelines.look({user: held}, count)[user] is held
        assert timelines.look({user: held})[user].timeline == timeline(user, 5, 3, 1)
        for n, there in ((4, (5, 4, 3)), (6, (6, 5, 4))):
            arrive(user, n)
            (held,) = timelines.look({user: held}, 3).values()
            assert held.timeline == timeline(user, *there, floor=snowflake(there[-1]))
        assert timelines.replace(user, held.timeline, timeline(user, 6, 5, 4))
        assert timelines.look({user: held}, 3)[user].timeline.ids == ids(6, 5, 4)
        for key in layout.home_timeline(user), layout.author_timeline(user):
            evict(nodes, key)
        assert timelines.look({user: held}, 3) == {user: None}

    def test_a_list_that_was_cut_back_to_its_length_has_changed(self, timelines, arrive, somebody):
        """As many tweets came below its head as were cut from its end."""
        user, head = somebody(), CAP + 3 * SLACK
        timelines.commit(user, timelines.begin(user), timeline(user, head, *reversed(range(CAP)), floor=snowflake(0)))
        (held,) = timelines.look({user: None}).values()
        for n in range(CAP, CAP + SLACK):
            arrive(user, n)
            (now,) = timelines.look({user: held}).values()
            assert now.timeline.ids[1] == snowflake(n)
        assert len(now.timeline.ids) == len(held.timeline.ids)

    def test_several_are_loaded_at_once(self, timelines, somebody):
        """Those that are cold are left out."""
        users = [somebody() for _ in range(8)]
        for user in users[1:]:
            timelines.commit(user, timelines.begin(user), timeline(user, 1))
        assert timelines.load(users) == {user: timeline(user, 1) for user in users[1:]}

    def test_an_empty_timeline_is_warm(self, timelines, somebody):
        """Nobody said anything yet: that is known, not cold."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user))
        assert timelines.load([user]) == {user: timeline(user)}

    def test_a_rebuild_in_progress_is_cold_and_belongs_to_one(self, timelines, somebody):
        """A second builder gets no token, and its guess at one changes nothing."""
        user = somebody()
        token = timelines.begin(user)
        assert timelines.load([user]) == {}
        assert timelines.begin(user) is None
        assert not timelines.commit(user, "another", timeline(user, 9))
        assert timelines.commit(user, token, timeline(user, 1))
        assert timelines.begin(user) is None

    def test_arrivals_during_a_rebuild_land_in_their_places(self, timelines, arrive, somebody):
        """Above, between and equal to what was built; below the floor the database serves."""
        user = somebody()
        token = timelines.begin(user)
        for n in (9, 4, 5, 1):
            assert arrive(user, n) == 1
        timelines.commit(user, token, timeline(user, 7, 5, 3, floor=snowflake(3)))
        assert timelines.load([user])[user].ids == ids(9, 7, 5, 4, 3)

    def test_a_follow_that_changes_makes_the_builder_look_again(self, home, writer, somebody):
        """However often; before that there is nothing to commit, and after it nothing that arrived is lost."""
        user = somebody()
        token = home.begin(user)
        writer.insert(snowflake(2), [user])
        assert writer.note("bob", [user]) == {user: ""}
        assert writer.agree("bob", {user: ""}, [user], ids(1)) == []
        assert home.renew(user, token)
        assert not home.commit(user, token, timeline(user, 1))
        assert not home.renew(user, "another", look_again=True)
        assert home.begin(user) is None
        assert home.renew(user, token, look_again=True)
        assert home.commit(user, token, timeline(user, 1))
        assert home.load([user])[user].ids == ids(2, 1)

    def test_a_mark_that_is_gone_voids_the_rebuild(self, nodes, home, somebody):
        """So is the right to commit."""
        user = somebody()
        token = home.begin(user)
        assert home.renew(user, token)
        reset_timelines.of_user(nodes, user)
        assert not home.renew(user, token)
        assert not home.commit(user, token, timeline(user, 1))
        assert home.load([user]) == {}

    def test_bodies_are_filled_once_and_stay_deleted(self, reader, writer):
        """A tombstone is never filled again; of what is not known there is a right to fill it."""
        there, gone, buried, other = (tweet(uuid.uuid4().int % 10**17) for _ in range(4))
        asked = [there.tweet_id, gone.tweet_id, buried.tweet_id]
        _, rights = reader.bodies(asked)
        writer.set_tombstone(buried.tweet_id)
        reader.fill(rights, {there.tweet_id: there, buried.tweet_id: buried})
        reader.fill(rights, {gone.tweet_id: gone, there.tweet_id: gone})
        known, rights = reader.bodies([*asked, other.tweet_id])
        assert known == {there.tweet_id: there, gone.tweet_id: None, buried.tweet_id: None}
        assert rights.keys() == {other.tweet_id}

    def test_what_was_read_ahead_is_there_for_any_process_until_timelines_go_cold(self, nodes, reader, somebody):
        """As it was kept; another layout's is not there, and the last one counts."""
        user = somebody()
        assert reader.read_ahead(user) is None
        for run in (Run([], BEGINNING), Run(ids(3, 2), snowflake(2))):
            ahead = ReadAhead(authors_name([user, "bob"]), 1_700_000_000, snowflake(4), run)
            reader.keep_ahead(user, ahead)
            assert TimelineReader(nodes).read_ahead(user) == ahead
        assert TimelineReader(nodes, version=VERSION + 1).read_ahead(user) is None
        reset_timelines.of_user(nodes, user)
        assert reader.read_ahead(user) is None

    def test_recent_tweets_are_capped_and_sorted(self, reader, writer, somebody):
        """The latest of each author, whatever order they came in."""
        author, other, silent = somebody(), somebody(), somebody()
        for n in (*range(layout.RECENT + 5, 5, -1), 3, 4):
            writer.add_recent(author, snowflake(n))
        writer.add_recent(other, snowflake(1))
        kept = ids(*range(6, layout.RECENT + 6))
        assert writer.recent(author) == kept
        assert sorted(reader.recent([author, other, silent])) == [snowflake(1), *kept]

    def test_of_recent_tweets_a_reader_gets_the_young(self, nodes, writer, somebody):
        """An index has had the others for long; half a million ids blocked Redis for 165 ms."""
        young = int(first_id(int((FIRST_AT + 3) * 1000)))
        for tweet_id in (snowflake(0), str(young - 1), str(young)):
            writer.add_recent(author := somebody(), tweet_id)
            later = TimelineReader(nodes, now=lambda: FIRST_AT + 3 + layout.RECENT_SECONDS)
            assert later.recent([author]) == ([tweet_id] if tweet_id == str(young) else [])

    def test_a_note_waits_for_the_next_rebuild_and_tells_whether_anyone_cares(self, reader, writer, somebody):
        """Cold: False."""
        user = somebody()
        assert writer.note("bob", [user]) == {}
        reader.home.begin(user)
        assert writer.note("carol", [user]) == {user: ""}
        assert sorted(reader.noted(user)) == ["bob", "carol"]

    def test_what_an_author_said_comes_into_their_own_timelines_where_these_are_warm(self, reader, writer, somebody):
        """The one that they read, and the one that a celebrity's readers merge: a timeline like any other."""
        author = somebody()
        assert writer.insert_own(author, snowflake(1)) == 0
        for n, timelines in enumerate((reader.authors, reader.home), 1):
            timelines.commit(author, timelines.begin(author), timeline(author))
            assert writer.insert_own(author, snowflake(n)) == n
        assert reader.authors.load([author])[author].ids == ids(2, 1)
        assert reader.home.load([author])[author].ids == ids(2)

    def test_who_was_overtaken_writes_nothing(self, home, writer, somebody):
        """A worker that was paused between its look at the edge and its write brings nothing back."""
        user = somebody()
        home.commit(user, home.begin(user), timeline(user, 1, others=["carol"]))
        paused = {who: writer.note(who, [user]) for who in ("bob", "carol")}
        assert writer.agree("bob", writer.note("bob", [user]), [user], []) == []
        for who, followers in (("bob", []), ("carol", [])):
            assert writer.agree(who, paused[who], followers, ids(2)) == [user]
        assert home.load([user]) == {user: timeline(user, 1, others=["bob", "carol"])}

    def test_whoever_was_overtaken_once_is_overtaken_though_all_is_as_it_was(self, home, writer, somebody):
        """Followed and left again, or made cold and built again: another has read the edge since."""
        user = somebody()
        home.commit(user, home.begin(user), timeline(user, 1))
        paused = writer.note("bob", [user])
        for followers in ([user], []):
            assert writer.agree("bob", writer.note("bob", [user]), followers, []) == []
        assert writer.agree("bob", paused, [user], []) == [user]
        paused = writer.note("bob", [user])
        whole = home.load([user])[user]
        assert home.replace(user, whole, timeline(user, 1))
        assert writer.agree("bob", paused, [user], []) == [user]

    def test_a_timeline_is_replaced_while_it_serves(self, home, writer, somebody):
        """What came since it was loaded stays, wherever it belongs; what it held that nobody said goes."""
        user = somebody()
        home.commit(user, home.begin(user), timeline(user, 9, 7, 5))
        was = home.load([user])[user]
        for n in (8, 10, 1):
            writer.insert(snowflake(n), [user])
        assert home.load([user])[user].ids == ids(10, 9, 8, 7, 5, 1)
        assert home.replace(user, was, timeline(user, 9, 6, 4, floor=snowflake(4), others=["bob"]))
        replaced = timeline(user, 10, 9, 8, 6, 4, floor=snowflake(4), others=["bob"])
        assert home.load([user]) == {user: replaced}

    @pytest.mark.parametrize("what", ["another follow", "another builder", "an eviction", "a marker"])
    def test_a_timeline_that_changed_is_not_replaced(self, home, nodes, writer, somebody, what):
        """Who was read before that may be wrong by now; so all is read again."""
        user = somebody()
        home.commit(user, home.begin(user), timeline(user, 1))
        was = home.load([user])[user]
        if what == "another follow":
            writer.agree("bob", writer.note("bob", [user]), [user], [])
        elif what == "another builder":
            home.replace(user, was, timeline(user, 2))
        else:
            reset_timelines.of_user(nodes, user)
            if what == "a marker":
                home.begin(user)
        before = home.load([user])
        assert not home.replace(user, was, timeline(user, 3))
        assert home.load([user]) == before

    def test_one_of_many_takes_the_turn_to_look_at_a_timeline(self, home, somebody):
        """And whatever else changes meanwhile, it goes on to be compared with what is there."""
        user = somebody()
        home.commit(user, home.begin(user), timeline(user, 1))
        was = home.load([user])[user]
        assert not was.head.is_due(FIRST_AT)
        assert was.head.is_due(FIRST_AT + 1.5 * heads.DAY)
        assert home.take_turn(user, was.head)
        assert not home.take_turn(user, was.head)
        assert home.load([user]) == {user: was}
        assert home.replace(user, was, timeline(user, 2))

    def test_a_timeline_of_deleted_tweets_alone_is_warm(self, timelines, somebody):
        """Its floor stands for them; nobody has to look whether that is there."""
        user = somebody()
        timelines.commit(user, timelines.begin(user), timeline(user, floor=snowflake(5)))
        assert timelines.load([user]) == {user: timeline(user, 5, floor=snowflake(5))}

    def test_a_list_that_nobody_reads_does_not_live_on_what_is_pushed(self, home, nodes, writer, somebody):
        """Redis evicts what says whom it shows, for only readers use that; soon the list goes, too."""
        user, total = somebody(), SLACK
        home.commit(user, home.begin(user), timeline(user))
        evict(nodes, layout.home_shown(user))
        assert sum(writer.insert(snowflake(n), [user]) for n in range(total)) < total + 1
        assert writer.insert(snowflake(total), [user]) == 0

    def test_a_full_timeline_loses_its_oldest(self, home, writer, somebody):
        """It is cut when its slack is used up, and not again before that: a cut costs more than a push."""
        user, total, lengths = somebody(), CAP + 2 * SLACK, []
        home.commit(user, home.begin(user), timeline(user))
        for n in range(total):
            writer.insert(snowflake(n), [user])
            if n >= CAP:
                lengths.append(len(home.load([user])[user].ids))
        assert {*lengths} == {*range(CAP, CAP + SLACK)}
        assert home.load([user])[user].ids == ids(*range(total - 1, total - 1 - lengths[-1], -1))

    def test_a_flood_during_a_rebuild_never_cuts_its_mark(self, home, writer, somebody):
        """Without its mark the list would pass for a timeline."""
        user, total = somebody(), CAP + SLACK + 1
        token = home.begin(user)
        for n in range(total):
            writer.insert(snowflake(n), [user])
        assert home.load([user]) == {}
        assert home.commit(user, token, timeline(user))
        assert home.load([user])[user].ids == ids(*reversed(range(total)))

    def test_a_full_timeline_stays_complete_when_somebody_prolific_is_followed(self, home, writer, somebody):
        """Their latest 800 may end above its last element; so it ends where theirs do, or higher."""
        user, total = somebody(), CAP + SLACK
        own = [2 * n for n in range(total, 0, -1)]
        home.commit(user, home.begin(user), timeline(user, *own, floor=snowflake(own[-1])))
        latest = {snowflake(2 * n + 1) for n in range(total, total - CAP, -1)}
        assert writer.agree("bob", writer.note("bob", [user]), [user], latest) == []
        assert home.load([user])[user].ids == ids(*range(2 * total + 1, 2 * total + 1 - CAP, -1))


PEOPLE = ["ann", "bob"]
person = st.sampled_from(PEOPLE)
place = st.integers(0, 40)
places = st.sets(place, max_size=20)
version = st.sampled_from([VERSION, VERSION + 1])
steps = st.one_of(
    st.tuples(st.just("insert"), place),
    st.tuples(st.just("insert"), place),
    st.tuples(st.just("insert_own"), person, place),
    st.tuples(st.just("note"), person, person),
    st.tuples(st.just("note"), person, person),
    st.tuples(st.just("agree"), person, person, st.booleans(), places),
    st.tuples(st.just("agree"), person, person, st.booleans(), places),
    st.tuples(st.just("follow"), person, person, st.booleans(), places),
    st.tuples(st.just("begin"), version, person),
    st.tuples(st.just("begin"), version, person),
    st.tuples(st.just("renew"), version, person, st.booleans()),
    st.tuples(st.just("commit"), version, person, places, st.booleans()),
    st.tuples(st.just("commit"), version, person, places, st.booleans()),
    st.tuples(st.just("load"), version, person),
    st.tuples(st.just("take_turn"), version, person),
    st.tuples(st.just("replace"), version, person, places, st.booleans()),
    st.tuples(st.just("bodies"), version, places),
    st.tuples(st.just("fill"), version, places),
    st.tuples(st.just("set_tombstone"), place),
    st.tuples(st.just("evict_shown"), person),
    st.tuples(st.just("reset"), person),
)


class World:
    """Two people's timelines on one Redis, read and built in two versions of the layout."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.mark = uuid.uuid4().hex
        self.writer = TimelineWriter(nodes)
        self.readers = {version: TimelineReader(nodes, version=version) for version in (VERSION, VERSION + 1)}
        self.tokens = {}
        self.noted = {}
        self.loaded = {}
        self.rights = {version: {} for version in self.readers}
        self.first = uuid.uuid4().int % 10**17  # so that bodies are this world's own

    def insert(self, n):
        return self.writer.insert(snowflake(n), [self.user("ann"), self.user("bob")])

    def insert_own(self, user, n):
        return self.writer.insert_own(self.user(user), snowflake(n))

    def note(self, user, followee):
        self.noted[user, followee] = self.writer.note(self.user(followee), [self.user(user)])
        return [bool(edition) for edition in self.noted[user, followee].values()]

    def agree(self, user, followee, is_followed, numbers):
        """Write what was read after a note, however long ago that was."""
        noted, followers = self.noted.get((user, followee), {}), [self.user(user)] if is_followed else []
        return len(self.writer.agree(self.user(followee), noted, followers, ids(*numbers)))

    def follow(self, user, followee, is_followed, numbers):
        self.note(user, followee)
        return self.agree(user, followee, is_followed, numbers)

    def begin(self, version, user):
        token = self.readers[version].home.begin(self.user(user))
        if token:
            self.tokens[version, user] = token
        return bool(token)

    def renew(self, version, user, look_again):
        token = self.tokens.get((version, user), "none")
        return self.readers[version].home.renew(self.user(user), token, look_again=look_again)

    def commit(self, version, user, numbers, is_full):
        token = self.tokens.get((version, user), "none")
        return self.readers[version].home.commit(self.user(user), token, self.built(user, numbers, is_full))

    def load(self, version, user):
        self.loaded[version, user] = self.readers[version].home.load([self.user(user)]).get(self.user(user))

    def take_turn(self, version, user):
        known = self.loaded.get((version, user))
        return known and self.readers[version].home.take_turn(self.user(user), known.head)

    def replace(self, version, user, numbers, is_full):
        """Put a new one in the place of what was loaded, however long ago that was."""
        known, built = self.loaded.get((version, user)), self.built(user, numbers, is_full)
        return known and self.readers[version].home.replace(self.user(user), known, built)

    def built(self, user, numbers, is_full):
        down = ids(*sorted(numbers, reverse=True))
        floor = snowflake(min(numbers, default=0)) if is_full else BEGINNING
        return Timeline(down, floor, Shown.of([self.user(user)]))

    def bodies(self, version, numbers):
        asked = [self.body(n).tweet_id for n in numbers]
        known, self.rights[version] = self.readers[version].bodies(asked) if asked else ({}, {})
        return {int(i) - self.first: tweet and tweet.shown for i, tweet in known.items()}, len(self.rights[version])

    def fill(self, version, numbers):
        tweets = {tweet.tweet_id: tweet for tweet in map(self.body, numbers)}
        self.readers[version].fill(self.rights[version], tweets)

    def set_tombstone(self, n):
        self.writer.set_tombstone(self.body(n).tweet_id)

    def evict_shown(self, user):
        evict(self.nodes, layout.home_shown(self.user(user)))

    def reset(self, user):
        return reset_timelines.of_user(self.nodes, self.user(user))

    def shown(self):
        """What readers of either version see, but for names that differ from world to world."""
        return {
            (version, name): found and (found.ids, found.floor, [self.user(who) in found.shown for who in PEOPLE])
            for version, reader in self.readers.items()
            for name in PEOPLE
            for found in [reader.home.load([self.user(name)]).get(self.user(name))]
        }

    def user(self, name):
        return f"{name}{self.mark}"

    def body(self, n):
        return Tweet(str(self.first + 10**18 + n), "bob", f"tweet {n}")


@pytest.mark.parametrize("kind", REAL, indirect=True)
@given(st.lists(steps, min_size=10, max_size=40))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_fake_does_what_the_scripts_do(nodes, history):
    """Whatever happens, in whatever order, by readers of two versions: the same answers, and the same is shown."""
    fake, real = World(FakeNodes()), World(nodes)
    for step, *arguments in history:
        answers = [getattr(world, step)(*arguments) for world in (fake, real)]
        if step == "bodies":
            assert answers[0][1] == answers[1][1]
        elif step not in ("load", "evict_shown"):
            assert answers[0] == answers[1], step
        assert fake.shown() == real.shown(), step
    for name in PEOPLE:
        real.reset(name)


@pytest.mark.parametrize("kind", REAL, indirect=True)
@given(
    starts=st.lists(st.tuples(st.sets(st.integers(0, 300), max_size=150), st.booleans()), min_size=1, max_size=3),
    arrivals=st.lists(st.integers(0, 300), max_size=20),
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_long_lists_are_inserted_into_as_the_fake_does(nodes, starts, arrivals):
    """Any ids in any order, at any depth."""
    found, users = [], [uuid.uuid4().hex for _ in starts]
    for each in (FakeNodes(), nodes):
        writer, home = TimelineWriter(each), TimelineReader(each).home
        for user, (numbers, is_full) in zip(users, starts, strict=True):
            down = ids(*sorted(numbers, reverse=True))
            floor = down[-1] if down and is_full else BEGINNING
            assert home.commit(user, home.begin(user), Timeline(down, floor, Shown.of([user])))
        inserted = [writer.insert(snowflake(n), users) for n in arrivals]
        found.append((inserted, home.load(users)))
    assert found[0] == found[1]
    for user in users:
        reset_timelines.of_user(nodes, user)


def test_a_redis_that_is_away_is_named():
    """The reader goes to the database instead, the writer tries again."""
    fake = FakeNodes()
    fake.away = True
    with closing(connect("redis://127.0.0.1:9")) as nodes:
        for each in (nodes, fake):
            with pytest.raises(RedisAwayError):
                TimelineReader(each).home.load(["alice"])
            with pytest.raises(RedisAwayError):
                TimelineWriter(each).insert("1", ["alice"])
            with pytest.raises(RedisAwayError):
                TimelineReader(each).check()
        with suppress(RedisAwayError):
            nodes.check()
