"""The events say what the tables say, and a row that breaks the contract is named, never guessed at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.translate import UntranslatableError, translate
from contracts import FollowChanged, TweetCreated, TweetDeleted

from .records import edge, history, record, tweet

edges = st.lists(st.none() | st.builds(edge, followed_at=st.integers(1, 9)))


@st.composite
def tweets(draw):
    """Draw lives of a tweet: written, perhaps edited, perhaps soft-deleted, which is for good, perhaps removed."""
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        alive = draw(st.lists(st.builds(tweet, text=st.sampled_from("ab")), max_size=3))
        dead = draw(st.lists(st.builds(tweet, deleted_at=st.integers(1, 9)), max_size=3))
        rows += [*alive, *dead, *draw(st.lists(st.none(), max_size=1))]
        if dead and rows[-1] is not None:
            break
    return rows


def events(table, rows):
    """Translate a whole history, each record with the row it left."""
    for change in history(rows):
        translated = translate(table, "shard", change)
        yield change["dynamodb"].get("NewImage"), None if translated is None else translated[1]


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


def test_an_edge_keeps_its_identity_place_and_time():
    """The sequence number becomes an integer: as text, 10 would lie before 9."""
    topic, event = translate("followers", "shard-7", record(None, edge("ann", "bob", 17), sequence=10))
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
    ("table", "old", "new", "name", "occurred_at"),
    [
        ("followers", edge(followed_at=17), None, "FollowChanged", None),
        ("tweets", None, tweet(created_at=17), "TweetCreated", 17),
        ("tweets", tweet(created_at=17), tweet(created_at=17, deleted_at=18), "TweetDeleted", 18),
        ("tweets", tweet(created_at=17), None, "TweetDeleted", None),
    ],
)
def test_the_time_is_the_rows_own(table, old, new, name, occurred_at):
    """A removal carries no time of its own, and none is invented."""
    topic, event = translate(table, "shard", record(old, new))
    assert topic.name == type(event).__name__ == name
    assert event.occurred_at == occurred_at


REQUIRED = [
    ("followers", None, edge(), "FollowChanged", ("follower_id", "followee_id", "followed_at")),
    ("followers", edge(), None, "FollowChanged", ("follower_id", "followee_id")),
    ("tweets", None, tweet(), "TweetCreated", ("tweet_id", "author_id", "text", "created_at")),
    ("tweets", tweet(), tweet(deleted_at=9), "TweetDeleted", ("tweet_id", "author_id")),
    ("tweets", tweet(), None, "TweetDeleted", ("tweet_id", "author_id")),
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
