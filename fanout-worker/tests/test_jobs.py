"""The operators' commands, as operators give them, on real parts."""

import json
import os
import random
import re
import subprocess
import sys
from contextlib import closing

import boto3
import pytest

from contracts import TOPICS
from fanout_worker.topics import SERVICE, TOPICS_READ
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.tweets import Tweet
from murmuration_timelines.writer import connect
from murmuration_worker.dead_letters import DeadLetters
from murmuration_worker.letters import open_letters
from murmuration_worker.messages import Message

PREFIX = os.environ.get("TABLE_PREFIX", "")


def command(*words, **environment):
    """Return the exit code, what was printed (as JSON, but for a list), and what was said besides."""
    run = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "fanout_worker", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    printed = run.stdout
    if words[0] != "celebrities" and printed:
        printed = json.loads(printed)
    return run.returncode, printed, run.stderr


@pytest.fixture
def redis():
    with closing(connect(os.environ["REDIS_URL"])) as nodes:
        yield TimelineReader(nodes)


def warm(redis, user, *followees):
    timeline = Timeline([], BEGINNING, Shown.of([user, *followees]))
    assert redis.home.commit(user, redis.home.begin(user), timeline)


def shown(redis, user):
    return redis.home.load([user]).get(user)


def follow(fan, star):
    item = {"followee_id": {"S": star}, "follower_id": {"S": fan}, "followed_at": {"N": "1"}}
    boto3.client("dynamodb").put_item(TableName=f"{PREFIX}followers", Item=item)


def mute(fan, star):
    item = {"muter_id": {"S": fan}, "muted_id": {"S": star}, "muted_at": {"N": "1"}}
    boto3.client("dynamodb").put_item(TableName=f"{PREFIX}mutes", Item=item)


def tweet(author, **more):
    tweet_id = str(random.randrange(10**18, 8 * 10**18))
    item = {"tweet_id": {"S": tweet_id}, "author_id": {"S": author}, "text": {"S": "hi"}, "created_at": {"N": "1"}}
    live = {} if more else {"live_author_id": {"S": author}}
    boto3.client("dynamodb").put_item(TableName=f"{PREFIX}tweets", Item=item | live | more)
    return tweet_id


def send_letter(topic, **ids):
    headers = [(name, value.encode()) for name, value in ids.items()]
    letter = Message(topic, 0, 0, b"key", b"poison", headers)
    DeadLetters(KafkaSettings(), SERVICE).send(TOPICS[topic], letter, "poison")


@pytest.fixture
def handled():
    """Settle what other tests left in the .dlq."""
    for topic in TOPICS_READ:
        with open_letters(KafkaSettings(), topic, SERVICE) as letters:
            letters.settle(letters.open())


@pytest.mark.stack
def test_cold_makes_a_user_cold(redis, somebody):
    """The next read builds the timeline anew."""
    user = somebody()
    warm(redis, user)
    code, done, _ = command("cold", user)
    assert (code, done["home_timeline"], done["home_shown"]) == (0, 1, 1)
    assert shown(redis, user) is None


@pytest.mark.stack
@pytest.mark.usefixtures("handled")
def test_dead_letters_bring_what_they_name_as_the_tables_have_it(redis, somebody):
    """A follow, a mute, a tweet and a deletion that could not be decoded; a second run finds nothing left."""
    fan, star, loud = somebody(), somebody(), somebody()
    warm(redis, fan, loud)
    follow(fan, star)
    follow(fan, loud)
    mute(fan, loud)
    said, gone = tweet(star), tweet(star, deleted_at={"N": "1"})
    there = Tweet(gone, star, "a body")
    redis.fill(redis.bodies([gone])[1], {gone: there})
    assert redis.bodies([gone])[0] == {gone: there}
    send_letter("FollowChanged", followee_id=star, follower_id=fan)
    send_letter("MuteChanged", muter_id=fan, muted_id=loud)
    send_letter("TweetCreated", tweet_id=said, author_id=star)
    send_letter("TweetDeleted", tweet_id=gone, author_id=star)
    code, done, _ = command("dead-letters", "handle")
    assert (code, done) == (0, {"edges": 1, "mutes": 1, "tweets": 1, "gone": 1, "nameless": 0})
    assert shown(redis, fan) == Timeline([said], BEGINNING, Shown.of([fan, star]))
    assert redis.bodies([gone])[0] == {gone: None}
    assert command("dead-letters", "handle")[1] == dict.fromkeys(done, 0)


@pytest.mark.stack
@pytest.mark.usefixtures("handled")
def test_a_letter_that_names_nobody_is_said_and_stays_until_told_otherwise():
    """Whatever it was, only cold timelines make up for it; that is an operator's decision."""
    send_letter("TweetCreated")
    for _ in range(2):
        code, done, said = command("dead-letters", "handle")
        assert (code, done["nameless"]) == (1, 1)
        assert "cold --all" in said
    drop = re.search(r"dead-letters drop (TweetCreated\.dlq/0/\d+)", said)
    assert command("dead-letters", "drop", drop[1])[0] == 0
    assert command("dead-letters", "handle")[1]["nameless"] == 0


@pytest.mark.stack
def test_demote_brings_followers_what_was_not_pushed(redis, somebody):
    """First refused with what to do, then done, then nothing is left to do."""
    fan, star = somebody(), somebody()
    warm(redis, fan, star)
    follow(fan, star)
    said = tweet(star)
    boto3.client("dynamodb").update_item(
        TableName=f"{PREFIX}users",
        Key={"user_id": {"S": star}},
        UpdateExpression="SET celebrity_since = :since, followers_count = :many",
        ExpressionAttributeValues={":since": {"S": said}, ":many": {"N": "50"}},
    )
    code, _, refusal = command("demote", star, CELEBRITY_THRESHOLD="50")
    assert code == 1
    assert star in refusal  # the aggregator may have counted the follow meanwhile
    assert "CELEBRITY_THRESHOLD is 50" in refusal
    item = boto3.client("dynamodb").get_item(TableName=f"{PREFIX}users", Key={"user_id": {"S": star}})["Item"]
    assert "celebrity_until" not in item
    listed = [json.loads(line) for line in command("celebrities")[1].splitlines()]
    assert [(each["celebrity_since"], each["being_demoted"]) for each in listed if each["user_id"] == star] == [
        (said, False)
    ]
    assert command("demote", star, CELEBRITY_THRESHOLD="60")[:2] == (
        0,
        {"followers_settled": 1, "celebrity_threshold": 60},
    )
    assert shown(redis, fan).ids == [said]
    code, done, again = command("demote", star, CELEBRITY_THRESHOLD="60")
    assert (code, done["followers_settled"]) == (0, 0)
    assert "is no celebrity" in again


@pytest.mark.parametrize("words", [["cold", "bob"], ["demote", "bob"], ["celebrities"], ["dead-letters", "list"]])
def test_a_part_that_is_away_is_named_with_what_to_do(words):
    """Exit 1, no traceback, and the word that trying again is safe."""
    away = {
        "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9",
        "REDIS_URL": "redis://127.0.0.1:9",
        "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
    }
    code, _, said = command(*words, **away)
    assert code == 1
    assert "run it again" in said
    assert "Traceback" not in said


def test_nobody_is_made_cold_by_mistake():
    """Who does not say whom is asked."""
    code, _, said = command("cold")
    assert code == 2
    assert "one of the arguments USER --all --node is required" in said
