"""The tables themselves."""

import json
import os
import random
import threading

import pytest

from contracts.profiles import Display, Profile
from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.dynamo import BATCH, client
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.store_gate import PLACES
from murmuration_testkit.waiting import eventually
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import TOP, Run
from timeline_service.app import dynamo_rows
from timeline_service.dynamo_tweets import QUERIES, DynamoTweets

from .conftest import tweet


@pytest.mark.stack
class TestOnDynamoDB:
    """On the stack's tables, under ids of this test's own."""

    prefix = os.environ.get("TABLE_PREFIX", "")

    @pytest.fixture
    def dynamodb(self):
        return client()

    @pytest.fixture
    def rows(self):
        return dynamo_rows(self.prefix)

    @pytest.fixture
    def say(self, dynamodb):
        start = random.randrange(7 * 10**18)

        def write(n, author, **more):
            said = tweet(start + n, author)
            shown = json.loads(said.shown)
            item = {
                "tweet_id": {"S": said.tweet_id},
                "author_id": {"S": author},
                "live_author_id": {"S": author},
                "text": {"S": shown["text"]},
                "created_at": {"N": str(shown["created_at"])},
                **more,
            }
            there = {name: value for name, value in item.items() if value}
            dynamodb.put_item(TableName=f"{self.prefix}tweets", Item=there)
            return said

        return write

    def test_profiles_are_those_that_there_are(self, rows, dynamodb, somebody):
        """As follow-service writes them; a row of counts alone is none, and neither is a deleted account."""
        alice, counted, gone = (somebody() for _ in range(3))
        written = {"display_name": {"S": "Alice"}, "is_private": {"BOOL": True}, "created_at": {"N": "5"}}
        for who, item in (
            (alice, written | {"followers_count": {"N": "2"}}),
            (counted, {"followers_count": {"N": "1"}}),
            (gone, {"is_private": {"BOOL": False}, "created_at": {"N": "5"}, "deleted_at": {"N": "6"}}),
        ):
            dynamodb.put_item(TableName=f"{self.prefix}users", Item={"user_id": {"S": who}, **item})
        found = rows.profiles.profiles([alice, counted, gone, somebody()])
        assert found == {alice: Profile(alice, "Alice", True, 2, 0, 5, Display.of(2, 0))}
        assert rows.profiles.profiles([]) == {}

    def test_followees_are_all_there(self, rows, dynamodb, somebody):
        """Everyone the user follows, nobody else."""
        user, followees = somebody(), {somebody() for _ in range(3)}
        for followee in followees:
            item = {"followee_id": {"S": followee}, "follower_id": {"S": user}, "followed_at": {"N": "1"}}
            dynamodb.put_item(TableName=f"{self.prefix}followers", Item=item)
        assert rows.follows.followees(user) == followees
        assert rows.follows.followees(somebody()) == frozenset()
        there, gone = next(iter(followees)), somebody()
        assert rows.follows.followees(user, [there, gone]) == followees

    def test_the_muted_are_those_of_this_user(self, rows, dynamodb, somebody):
        """Nobody else's, and nobody who has muted them."""
        user, other, muted = somebody(), somebody(), {somebody() for _ in range(3)}
        for muter, who in [*((user, who) for who in muted), (other, user)]:
            item = {"muter_id": {"S": muter}, "muted_id": {"S": who}, "muted_at": {"N": "1"}}
            dynamodb.put_item(TableName=f"{self.prefix}mutes", Item=item)
        assert rows.mutes.muted(user) == muted
        assert rows.mutes.muted(somebody()) == frozenset()

    @pytest.mark.parametrize("by", ["this release", "an older one"])
    def test_ids_of_each_author_without_the_deleted_say_how_far_down_they_are_complete(self, rows, say, somebody, by):
        """So many are looked at, each author's below an id of theirs; what an older release deleted is among them."""
        one, two = somebody(), somebody()
        said = [say(n, one) for n in range(8)]
        other = say(8, two)
        ids = [each.tweet_id for each in said]
        for n in (3, 4, 5):
            deleted = {"live_author_id": None} if by == "this release" else {}
            say(n, one, deleted_at={"N": "1"}, **deleted)
        found = rows.tweets.ids({one: TOP, two: TOP}, 3)
        mine = Run([ids[7], ids[6], ids[2]], ids[2]) if by == "this release" else Run([ids[7], ids[6]], ids[5])
        assert found == {one: mine, two: Run([other.tweet_id], BEGINNING)}
        assert rows.tweets.ids({one: ids[6], two: other.tweet_id}, 9) == {
            one: Run([ids[2], ids[1], ids[0]], BEGINNING),
            two: Run([], BEGINNING),
        }

    def test_celebrities_are_those_with_the_mark(self, rows, dynamodb, somebody):
        """Whoever has no celebrity_since is not in the index, and not in the set."""
        famous, other = somebody(), somebody()
        for user, since in ((famous, {"celebrity_since": {"S": "1"}}), (other, {})):
            dynamodb.put_item(TableName=f"{self.prefix}users", Item={"user_id": {"S": user}, **since})
        eventually(lambda: famous in rows.celebrities.celebrities(), expected=True)
        assert other not in rows.celebrities.celebrities()

    def test_who_departed_is_there_until_their_tweets_are_erased(self, rows, dynamodb, somebody):
        """Whoever is erased is not in the index, nor is anybody else."""
        gone, erased = somebody(), somebody()
        for user, due in ((gone, {"erasure": {"S": "due"}}), (erased, {})):
            item = {"user_id": {"S": user}, "deleted_at": {"N": "4102444800000"}, **due}
            dynamodb.put_item(TableName=f"{self.prefix}users", Item=item)
        eventually(lambda: gone in rows.profiles.departed(), expected=True)
        assert erased not in rows.profiles.departed()

    def test_bodies_come_in_any_number_without_the_deleted(self, rows, say, somebody):
        """More than one batch; what is deleted or was never there is left out."""
        author = somebody()
        said = [say(n, author) for n in range(BATCH + 5)]
        gone = say(BATCH + 5, author, deleted_at={"N": "1"})
        asked = [*(one.tweet_id for one in said), gone.tweet_id, "1"]
        assert rows.tweets.tweets(asked) == {one.tweet_id: one for one in said}


def test_the_queries_of_a_request_have_its_deadline():
    """Though they run in threads that all requests share."""
    seen = set()

    class Store:
        def query(self, **_):
            seen.add(deadlines.current().until)
            return {"Items": []}

    tweets = DynamoTweets(Store(), "")
    with deadlines.within(60) as deadline:
        tweets.ids(dict.fromkeys("abc", TOP), 1)
    assert seen == {deadline.until}


def test_a_request_waits_for_its_turn_no_longer_than_its_deadline():
    """The threads may all be busy with what others asked for."""
    go_on = threading.Event()

    class Slow:
        def query(self, **_):
            assert go_on.wait(30)
            return {"Items": []}

    tweets = DynamoTweets(Slow(), "")
    with deadlines.within(0.1), pytest.raises(DeadlineError):
        tweets.ids(dict.fromkeys(map(str, range(2 * QUERIES)), TOP), 1)
    go_on.set()


def test_queries_leave_places_at_dynamodb_to_other_calls():
    """However many timelines are built, a profile finds a place."""
    assert QUERIES < PLACES


def test_a_store_that_is_away_is_named(monkeypatch):
    """No answer within seconds is an error that invites another try."""
    for name, value in {
        "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
        dynamo_rows("").tweets.check()
