"""Followers, edges and tweets, from the real tables."""

import os
import random
import threading
from functools import partial

import boto3
import pytest

from contracts import TOPICS
from fanout_worker.dynamo_celebrities import DynamoCelebrities
from fanout_worker.dynamo_follows import PAGE, DynamoFollows
from fanout_worker.dynamo_mutes import DynamoMutes
from fanout_worker.dynamo_tweets import DynamoTweets
from murmuration_runtime import dynamo
from murmuration_runtime.dynamo import CONFLICT_ATTEMPTS
from murmuration_runtime.dynamo_wire import Answer
from murmuration_runtime.errors import StoreAwayError
from murmuration_timelines.celebrities import Author
from murmuration_worker.worker import AT_ONCE

PREFIX = os.environ.get("TABLE_PREFIX", "")
client = partial(dynamo.client, attempts=1)


@pytest.mark.stack
def test_pages_hold_everyone_once(somebody):
    """However many they are, nobody is left out or told twice."""
    dynamodb, star = client(), somebody()
    fans = {somebody() for _ in range(PAGE + 25)}
    asked = []
    dynamodb.meta.events.register("before-parameter-build.dynamodb.Query", lambda params, **_: asked.append(params))
    rows = [
        {"PutRequest": {"Item": {"followee_id": {"S": star}, "follower_id": {"S": fan}, "followed_at": {"N": "1"}}}}
        for fan in fans
    ]
    patient = boto3.client("dynamodb")  # one hot key: Local may take longer than our client would wait
    for start in range(0, len(rows), 25):
        patient.batch_write_item(RequestItems={f"{PREFIX}followers": rows[start : start + 25]})
    pages = list(DynamoFollows(dynamodb, PREFIX).followers(star))
    assert [len(page) for page in pages] == [PAGE, 25]
    assert sorted(fan for page in pages for fan in page) == sorted(fans)
    rest = DynamoFollows(dynamodb, PREFIX).followers(star, after=pages[0][-2])
    assert [*rest] == [[pages[0][-1], *pages[1]]]
    assert len(asked) == 3
    assert all(each["ConsistentRead"] for each in asked)


def say(author, number, *, deleted, by_older):
    """Write a tweet's row as it is in the end; an older release deletes it and leaves it in the index."""
    item = {"tweet_id": {"S": str(number)}, "author_id": {"S": author}}
    if not deleted or by_older:
        item["live_author_id"] = {"S": author}
    if deleted:
        item["deleted_at"] = {"N": "1"}
    client().put_item(TableName=f"{PREFIX}tweets", Item=item)


@pytest.mark.stack
def test_the_latest_are_the_authors_newest_undeleted(somebody):
    """As many as asked for, whatever was deleted in between."""
    dynamodb, author, first = client(), somebody(), random.randrange(10**18, 8 * 10**18)
    for n in range(8):
        say(author, first + n, deleted=n in (3, 4, 5), by_older=n == 4)
    assert DynamoTweets(dynamodb, PREFIX).latest(author, 3) == [str(first + n) for n in (7, 6, 2)]


@pytest.mark.stack
def test_an_edge_is_there_or_not(somebody):
    """In the direction that it has."""
    dynamodb, alice, bob = client(), somebody(), somebody()
    item = {"followee_id": {"S": bob}, "follower_id": {"S": alice}, "followed_at": {"N": "1"}}
    dynamodb.put_item(TableName=f"{PREFIX}followers", Item=item)
    tables = DynamoFollows(dynamodb, PREFIX)
    assert tables.followers_among(bob, [alice, somebody()]) == {alice}
    assert tables.followers_among(alice, [bob]) == set()


@pytest.mark.stack
def test_a_mute_is_there_or_not(somebody):
    """In the direction that it has."""
    dynamodb, alice, bob = client(), somebody(), somebody()
    item = {"muter_id": {"S": alice}, "muted_id": {"S": bob}, "muted_at": {"N": "1"}}
    dynamodb.put_item(TableName=f"{PREFIX}mutes", Item=item)
    tables = DynamoMutes(dynamodb, PREFIX)
    assert tables.muters_among(bob, [alice, somebody()]) == {alice}
    assert tables.muters_among(alice, [bob]) == set()


@pytest.mark.stack
def test_whom_somebody_follows_and_has_muted(somebody):
    """Each by the index of one reader."""
    dynamodb, alice, bob, carol = client(), somebody(), somebody(), somebody()
    for star in (bob, carol):
        item = {"followee_id": {"S": star}, "follower_id": {"S": alice}, "followed_at": {"N": "1"}}
        dynamodb.put_item(TableName=f"{PREFIX}followers", Item=item)
    item = {"muter_id": {"S": alice}, "muted_id": {"S": bob}, "muted_at": {"N": "1"}}
    dynamodb.put_item(TableName=f"{PREFIX}mutes", Item=item)
    assert DynamoFollows(dynamodb, PREFIX).followed_by(alice) == {bob, carol}
    assert DynamoMutes(dynamodb, PREFIX).muted(alice) == {bob}


@pytest.mark.stack
def test_what_an_author_said_between_two_ids(somebody):
    """Both included, newest first, and nothing that was deleted."""
    dynamodb, author, first = client(), somebody(), random.randrange(10**18, 8 * 10**18)
    for n in range(8):
        say(author, first + n, deleted=n in (3, 4, 5), by_older=n == 4)
    tweets = DynamoTweets(dynamodb, PREFIX)
    assert [*tweets.between(author, str(first + 1), str(first + 6))] == [str(first + n) for n in (6, 2, 1)]
    assert len([*tweets.between(author, "0", "9" * 19)]) == 5


class Slow:
    """A DynamoDB of three pages, which tells when it is asked for which."""

    def __init__(self):
        self.asked = [threading.Event() for _ in range(3)]

    def query(self, ExclusiveStartKey=0, **_):  # noqa: N803 - DynamoDB's name
        self.asked[ExclusiveStartKey].set()
        following = ExclusiveStartKey + 1
        more = {"LastEvaluatedKey": following} if following < len(self.asked) else {}
        return {"Items": [{"follower_id": {"S": f"fan-{ExclusiveStartKey}"}}]} | more


def test_the_next_page_is_read_while_one_is_being_written():
    """One ahead and no more: memory is two pages, however many follow."""
    slow = Slow()
    pages = DynamoFollows(slow, "").followers("star")
    assert slow.asked[0].wait(5)
    assert next(pages) == ["fan-0"]
    assert slow.asked[1].wait(5)
    assert not slow.asked[2].wait(0.2)
    assert list(pages) == [["fan-1"], ["fan-2"]]


def test_authors_who_cannot_be_read_hold_up_nobody_elses_tweets():
    """However many are in hand, all of them but one."""
    free = threading.Event()

    class Hanging:
        def query(self, ExpressionAttributeValues, **_):  # noqa: N803 - DynamoDB's name
            if ExpressionAttributeValues[":followee"] == {"S": "held"}:
                assert free.wait(10)
            return {"Items": [{"follower_id": {"S": "fan"}}]}

    follows = DynamoFollows(Hanging(), "")
    held = [follows.followers("held") for _ in range(AT_ONCE * TOPICS["TweetCreated"].partitions - 1)]
    assert list(follows.followers("star")) == [["fan"]]
    free.set()
    assert [list(each) for each in held] == [[["fan"]]] * len(held)


def test_an_error_in_a_page_that_was_read_ahead_reaches_whoever_needs_it():
    """Never a page too few, in silence."""
    slow = Slow()
    slow.asked = [threading.Event(), None]
    pages = DynamoFollows(slow, "").followers("star")
    assert next(pages) == ["fan-0"]
    with pytest.raises(AttributeError):
        next(pages)


@pytest.mark.stack
class TestCelebrities:
    """The row that says who is one."""

    def test_a_promotion_is_once_and_a_demotion_has_a_beginning_and_an_end(self, somebody):
        """Each step only from the one before it, whatever else is in the row."""
        tables, star = DynamoCelebrities(client(), PREFIX), somebody()
        count(star, 12)
        assert tables.author(star) == Author(12)
        assert not tables.begin_demotion(star, "6", 20)
        assert tables.promote(star, "5")
        assert not tables.promote(star, "7")
        assert tables.author(star) == Author(12, "5")
        assert not tables.begin_demotion(star, "6", 12)
        assert not tables.end_demotion(star, "5", "6")
        assert tables.begin_demotion(star, "6", 20)
        assert tables.begin_demotion(star, "8", 20)
        assert tables.author(star) == Author(12, "5", "6")
        assert not tables.end_demotion(star, "4", "6")
        assert tables.end_demotion(star, "5", "6")
        assert tables.author(star) == Author(12)

    def test_nobody_in_particular_is_an_author_like_others(self, somebody):
        """The row may come later than the first tweet's event."""
        assert DynamoCelebrities(client(), PREFIX).author(somebody()) == Author()

    def test_who_deleted_their_account_is_departed(self, somebody):
        """For good, whatever else the row has."""
        gone = somebody()
        client().put_item(TableName=f"{PREFIX}users", Item={"user_id": {"S": gone}, "deleted_at": {"N": "1"}})
        assert DynamoCelebrities(client(), PREFIX).author(gone) == Author(is_departed=True)

    def test_the_sparse_index_lists_the_celebrities_alone(self, somebody):
        """Readers scan it every few seconds."""
        tables, star, other = DynamoCelebrities(client(), PREFIX), somebody(), somebody()
        count(other, 12)
        tables.promote(star, "5")
        assert star in tables.celebrities()
        assert other not in tables.celebrities()

    def test_a_transaction_on_the_row_is_waited_out(self, somebody):
        """AWS refuses an update while a transaction holds the item; DynamoDB Local never does, so it is injected."""
        tables, refused, star = *with_conflicts(3), somebody()
        assert tables.promote(star, "5")
        assert refused == [3]

    def test_a_row_locked_for_too_long_is_worth_another_try(self, somebody):
        """The event is begun again, then."""
        tables, _ = with_conflicts(CONFLICT_ATTEMPTS)
        with pytest.raises(StoreAwayError, match="locked"):
            tables.promote(somebody(), "5")


def count(user, followers):
    client().update_item(
        TableName=f"{PREFIX}users",
        Key={"user_id": {"S": user}},
        UpdateExpression="SET followers_count = :count",
        ExpressionAttributeValues={":count": {"N": str(followers)}},
    )


def with_conflicts(times):
    """Build tables whose first updates are answered as AWS answers during a transaction."""
    dynamodb, refused = client(), [0]

    def refuse(**_):
        if refused[0] == times:
            return None
        refused[0] += 1
        return Answer(400, b'{"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException"}')

    dynamodb.meta.events.register("before-send.dynamodb.UpdateItem", refuse)
    return DynamoCelebrities(dynamodb, PREFIX), refused


@pytest.mark.stack
def test_whose_a_tweet_is_unless_it_is_deleted(somebody):
    """The row decides, whatever an event or a letter says."""
    author, tweet_id = somebody(), str(random.randrange(10**18, 8 * 10**18))
    tables, item = DynamoTweets(client(), PREFIX), {"tweet_id": {"S": tweet_id}, "author_id": {"S": author}}
    assert tables.author_of(tweet_id) is None
    client().put_item(TableName=f"{PREFIX}tweets", Item=item)
    assert tables.author_of(tweet_id) == author
    client().put_item(TableName=f"{PREFIX}tweets", Item=item | {"deleted_at": {"N": "1"}})
    assert tables.author_of(tweet_id) is None


@pytest.mark.usefixtures("dynamodb_away")
def test_a_store_that_is_away_is_named():
    """No answer within seconds is an error that invites another try."""
    with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
        DynamoFollows(client(), "").check()
