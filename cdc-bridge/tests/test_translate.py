"""The events say what the tables say, and a row that breaks the contract is named, never guessed at."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.account_states import Gone
from cdc_bridge.translate import UntranslatableError, translate
from contracts import FollowChanged, TweetCreated, TweetDeleted

from .records import block, edge, history, mute, record, request, row, tweet, user

edges = st.lists(st.none() | st.builds(edge, followed_at=st.integers(1, 9)))


@st.composite
def tweets(draw):
    """Draw lives of a tweet: written, perhaps migrated, perhaps soft-deleted, which is for good, perhaps removed.

    A deleted one has lost its text, or loses it later.
    """
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        alive = draw(st.lists(st.builds(tweet, live_author_id=st.sampled_from([None, "ann"])), max_size=3))
        deleted = st.builds(tweet, text=st.sampled_from([None, "a"]), deleted_at=st.integers(1, 9))
        dead = draw(st.lists(deleted, max_size=3))
        rows += [*alive, *dead, *draw(st.lists(st.none(), max_size=1))]
        if dead and rows[-1] is not None:
            break
    return rows


def told(table, change):
    """Return what a record tells."""
    translated = translate(table, "shard", change)
    return [] if translated is None else translated[1]


def events(table, rows):
    """Translate a whole history, each record with the row it left; each gives one event at most."""
    for change in history([*rows]):
        said = told(table, change)
        assert len(said) <= 1
        yield change["dynamodb"].get("NewImage"), said[0] if said else None


blocks = st.lists(st.none() | st.builds(block, traceparent=st.sampled_from([None, "a", "b"])))
mutes = st.lists(st.none() | st.builds(mute, muted_at=st.integers(1, 9)))


@given(st.one_of(st.tuples(st.just("blocks"), blocks), st.tuples(st.just("mutes"), mutes)))
def test_the_last_event_of_a_pair_tells_whether_its_row_stands(table_and_rows):
    """And no two in a row say the same."""
    table, rows = table_and_rows
    stands = False
    for new, event in events(table, rows):
        if event is not None:
            now = event.blocking if table == "blocks" else event.muting
            assert now is not stands
            assert (event.occurred_at is None) is stands
            stands = now
        assert stands == (new is not None)


lives = st.lists(st.builds(request, traceparent=st.sampled_from([None, "a", "b"])), max_size=2)
leftovers = st.lists(st.builds(request, accepted_at=st.integers(1, 9)), max_size=2)
removals = st.lists(st.none(), max_size=1)


@given(st.lists(st.one_of(lives, leftovers, removals)))
def test_each_request_begins_once_and_ends_once(parts):
    """Accepted or otherwise; what is left of an accepted one counts as absent."""
    stands = False
    for new, event in events("follow_requests", [each for part in parts for each in part]):
        if event is not None:
            assert (event.state == "requested") is not stands
            assert event.state != "accepted" or "accepted_at" in new
            assert event.state != "ended" or new is None
            stands = event.state == "requested"
        assert stands == (new is not None and "accepted_at" not in new)


@given(edges)
def test_adding_up_the_changes_tells_whether_the_edge_stands(rows):
    """However often an edge comes, changes and goes, the sum of its events is 1 while its row is there, else 0."""
    standing = 0
    for new, event in events("followers", rows):
        standing += event.change if event else 0
        assert standing == (new is not None)


@given(tweets())
def test_the_events_tell_whether_the_tweet_lives(rows):
    """Created and deleted alternate, and the last of them says whether an undeleted row is there."""
    lives = False
    for new, event in events("tweets", rows):
        if event is not None:
            assert isinstance(event, TweetDeleted if lives else TweetCreated)
            lives = not lives
        assert lives == (new is not None and "deleted_at" not in new)


writes_of_users = st.sampled_from(
    [
        {"display_name": "Ann"},
        {"display_name": "Bob"},
        {"is_private": True},
        {"is_private": False},
        {"discoverable": False},
        {"followers_count": 1},
        {"followers_count": 2},
        {"following_count": 1},
        {"celebrity_since": "1"},
        {"deleted_at": 9, "erasure": "due", "display_name": None},
    ]
)


@st.composite
def users(draw):
    """Draw the life of a row: counts may come before the profile, deletion is for good, each write raises version."""
    now, rows = {"user_id": "ann", "version": 0}, []
    for write in draw(st.lists(writes_of_users, max_size=8)):
        is_count = any(name.endswith("_count") for name in write)
        if "deleted_at" in now and not is_count:
            write = {"erasure": None}  # noqa: PLW2901
        elif "created_at" not in now and not is_count:
            write = {"display_name": "Ann", "created_at": 4}  # noqa: PLW2901
        now |= {**write, "version": now["version"] + 1}
        rows.append(row(**now))
    return rows


def public(row):
    """Return what everybody may know of an account's row, by the names of UserChanged."""
    return {
        "display_name": row["display_name"]["S"] if "display_name" in row else None,
        "is_private": row.get("is_private", {"BOOL": False})["BOOL"],
        "discoverable": row.get("discoverable", {"BOOL": True})["BOOL"],
        "followers_count": int(row.get("followers_count", {"N": "0"})["N"]),
        "following_count": int(row.get("following_count", {"N": "0"})["N"]),
        "deleted_at": int(row["deleted_at"]["N"]) if "deleted_at" in row else None,
    }


@given(users(), st.data())
def test_who_takes_only_higher_versions_ends_with_the_last_state(rows, data):
    """In whatever order the states came, and however often, since they may come by several shards."""
    said = [each for change in history(rows) for each in told("users", change)]
    states = [each for each in said if not isinstance(each, Gone)]
    kept = None
    for state in data.draw(st.permutations(states + states)):
        kept = state if kept is None or state.version > kept.version else kept
    accounts = [row for row in rows if "created_at" in row]
    assert (kept is None) == (not accounts)
    if accounts:
        last = next((row for row in accounts if "deleted_at" in row), accounts[-1])
        assert public(last) == {name: getattr(kept, name) for name in public(last)}
    tellings = [public(row) for row in accounts]
    assert len(states) == len(
        [1 for before, now in pairwise([None, *tellings]) if before != now and not (before or {}).get("deleted_at")]
    )


@given(users())
def test_a_tombstone_is_the_last_word_about_an_account_and_follows_its_last_state(rows):
    """Whatever is written to the row of a deleted account tells nothing more."""
    said = [each for change in history(rows) for each in told("users", change)]
    deleted = any("deleted_at" in row for row in rows)
    assert [isinstance(each, Gone) for each in said] == [False] * (len(said) - deleted) + [True] * deleted
    if deleted:
        state, gone = said[-2:]
        assert gone.last == state
        assert (state.deleted_at, state.occurred_at, state.display_name) == (9, 9, None)


def test_an_account_is_told_when_it_is_made_with_its_time():
    """And what changes later has no time of its own."""
    count_came_first = {name: value for name, value in user(followers_count=1).items() if "_" not in name} | row(
        user_id="ann", followers_count=1
    )
    _, (made,) = translate(
        "users", "shard", record(count_came_first, user(created_at=17, followers_count=1, version=2))
    )
    assert (made.occurred_at, made.created_at, made.followers_count, made.version) == (17, 17, 1, 2)
    _, (changed,) = translate("users", "shard", record(user(), user(followers_count=1)))
    assert (changed.occurred_at, changed.version) == (None, 0)


def test_a_row_of_users_that_goes_leaves_a_tombstone():
    """No service deletes one; whoever does it by hand must not leave its copies behind."""
    _, (gone,) = translate("users", "shard", record(user(version=4), None))
    assert (gone.last.user_id, gone.last.version) == ("ann", 4)
    assert translate("users", "shard", record(user(deleted_at=9), None)) is None
    assert translate("users", "shard", record(row(user_id="ann", followers_count=1), None)) is None


def test_a_row_that_is_mended_tells_its_state():
    """What it was before breaks the contract, and that was a dead letter."""
    broken = user() | {"is_private": {"S": "yes"}}
    with pytest.raises(UntranslatableError, match="is_private of NewImage"):
        translate("users", "shard", record(user(), broken))
    _, (mended,) = translate("users", "shard", record(broken, user()))
    assert mended.display_name == "Ann"


def test_an_edge_keeps_its_identity_place_and_time():
    """The sequence number becomes an integer: as text, 10 would lie before 9."""
    topic, (event,) = translate("followers", "shard-7", record(None, edge("ann", "bob", 17), sequence=10))
    assert topic.name == "FollowChanged"
    assert event == FollowChanged(
        event_id="event-10",
        source=event.source,
        follower_id="bob",
        followee_id="ann",
        following=True,
        occurred_at=17,
    )
    assert (event.source.shard_id, event.source.sequence_number) == ("shard-7", 10)


@pytest.mark.parametrize(
    ("table", "old", "new"),
    [
        ("followers", None, edge()),
        ("followers", edge(), None),
        ("tweets", tweet(), tweet(deleted_at=18)),
        ("tweets", tweet(live_author_id="ann"), tweet(text=None, deleted_at=18)),
        ("tweets", tweet(), None),
    ],
)
@pytest.mark.parametrize(
    ("seconds", "recorded_at"), [(1_700_000_000, 1_700_000_000_000), (1_700_000_040.5, 1_700_000_040_500), (None, None)]
)
def test_edges_and_deletions_have_the_streams_own_time(table, old, new, seconds, recorded_at):
    """As it comes, whether AWS or Local rounded it; so a removal has a time, too."""
    change = record(old, new)
    if seconds is not None:
        change["dynamodb"]["ApproximateCreationDateTime"] = seconds
    _, (event,) = translate(table, "shard", change)
    assert event.recorded_at == recorded_at


@pytest.mark.parametrize(
    ("table", "old", "new", "name", "occurred_at"),
    [
        ("followers", edge(followed_at=17), None, "FollowChanged", None),
        ("tweets", None, tweet(created_at=17), "TweetCreated", 17),
        ("tweets", tweet(created_at=17), tweet(created_at=17, deleted_at=18), "TweetDeleted", 18),
        ("tweets", tweet(created_at=17), None, "TweetDeleted", None),
        ("blocks", None, block(blocked_at=17), "BlockChanged", 17),
        ("mutes", mute(muted_at=17), None, "MuteChanged", None),
        ("follow_requests", None, request(requested_at=17), "FollowRequestChanged", 17),
        ("follow_requests", request(requested_at=17), request(accepted_at=18), "FollowRequestChanged", 18),
        ("follow_requests", request(requested_at=17), None, "FollowRequestChanged", None),
        ("users", None, user(created_at=17), "UserChanged", 17),
        ("users", user(created_at=17), user(created_at=17, deleted_at=18), "UserChanged", 18),
    ],
)
def test_the_time_is_the_rows_own(table, old, new, name, occurred_at):
    """A removal carries no time of its own, and none is invented."""
    topic, (event, *_) = translate(table, "shard", record(old, new))
    assert topic.name == type(event).__name__ == name
    assert event.occurred_at == occurred_at


REQUIRED = [
    ("followers", None, edge(), "FollowChanged", ("follower_id", "followee_id", "followed_at")),
    ("followers", edge(), None, "FollowChanged", ("follower_id", "followee_id")),
    ("tweets", None, tweet(), "TweetCreated", ("tweet_id", "author_id", "text", "created_at")),
    ("tweets", tweet(), tweet(text=None, deleted_at=9), "TweetDeleted", ("tweet_id", "author_id")),
    ("tweets", tweet(), None, "TweetDeleted", ("tweet_id", "author_id")),
    ("blocks", None, block(), "BlockChanged", ("blocker_id", "blocked_id", "blocked_at")),
    ("blocks", block(), None, "BlockChanged", ("blocker_id", "blocked_id")),
    ("mutes", None, mute(), "MuteChanged", ("muter_id", "muted_id", "muted_at")),
    ("mutes", mute(), None, "MuteChanged", ("muter_id", "muted_id")),
    ("follow_requests", None, request(), "FollowRequestChanged", ("follower_id", "followee_id", "requested_at")),
    ("follow_requests", request(), None, "FollowRequestChanged", ("follower_id", "followee_id")),
    ("users", None, user(), "UserChanged", ("user_id", "display_name")),
    ("users", user(), None, "UserChanged", ("user_id", "display_name")),
]


@pytest.mark.parametrize(
    ("table", "old", "new", "topic", "attribute"),
    [(table, old, new, topic, name) for table, old, new, topic, names in REQUIRED for name in names],
)
@pytest.mark.parametrize("damage", ["missing", "of another type"])
def test_a_row_that_breaks_the_contract_is_named(table, old, new, topic, attribute, damage):
    """The error holds the topic whose dead letter it becomes, and the attribute that is wrong."""
    change = record(old, new)
    image = dict(new or old)
    if damage == "missing":
        del image[attribute]
    else:
        image[attribute] = {"BOOL": True}
    change["dynamodb"]["NewImage" if new else "OldImage"] = image
    with pytest.raises(UntranslatableError, match=attribute) as caught:
        translate(table, "shard", change)
    assert caught.value.topic.name == topic


def test_a_time_that_is_not_whole_milliseconds_is_refused():
    """1.5 is a number to DynamoDB, and no time to anybody."""
    with pytest.raises(UntranslatableError, match=r"followed_at of NewImage is '1\.5'"):
        translate("followers", "shard", record(None, edge() | {"followed_at": {"N": "1.5"}}))


def test_a_stream_without_images_is_refused_with_what_it_must_give():
    """A stream of keys only would lose every time and every text."""
    change = record(None, edge())
    del change["dynamodb"]["NewImage"]
    with pytest.raises(UntranslatableError, match="NEW_AND_OLD_IMAGES"):
        translate("followers", "shard", change)
