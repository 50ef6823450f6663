"""The worker of the stack, from Kafka to Redis: poison, repeats and disorder."""

import os
import random
import uuid
from contextlib import closing
from dataclasses import replace

import boto3
import pytest
from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition

from contracts import TOPICS, Source, TweetDeleted
from contracts.registry import codec_for
from murmuration_testkit.processes import caught_up, control
from murmuration_testkit.topics import admin
from murmuration_testkit.waiting import eventually
from murmuration_timelines import layout
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Timeline
from murmuration_timelines.reader import TimelineReader
from murmuration_timelines.shown import Shown
from murmuration_timelines.writer import connect

from .conftest import follow, mute, tweet

PREFIX = os.environ.get("TABLE_PREFIX", "")
pytestmark = pytest.mark.stack


@pytest.fixture
def nodes():
    with closing(connect(os.environ["REDIS_URL"])) as connected:
        yield connected


@pytest.fixture
def redis(nodes):
    return nodes.client


@pytest.fixture
def home(nodes):
    return TimelineReader(nodes).home


@pytest.fixture
def pair(home, somebody):
    """Somebody warm, and whom they follow."""
    fan, star = somebody(), somebody()
    warm(home, fan, star)
    item = {"followee_id": {"S": star}, "follower_id": {"S": fan}, "followed_at": {"N": "1"}}
    boto3.client("dynamodb").put_item(TableName=f"{PREFIX}followers", Item=item)
    return fan, star


def warm(home, fan, star):
    """Have somebody's timeline built, as a reader does who finds it cold."""
    assert home.commit(fan, home.begin(fan), Timeline([], BEGINNING, Shown.of([fan, star])))


def new_ids(count):
    first = random.randrange(10**18, 8 * 10**18)
    return [str(first + n) for n in range(count)]


def publish(*events, poison=None):
    """Publish in order; poison goes before each, into the same partition."""
    producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
    for event in events:
        topic = TOPICS[type(event).__name__]
        key = topic.key(event)
        value = codec_for(topic, os.environ["SCHEMA_REGISTRY_URL"]).encode(event)
        for one in [poison, value] if poison else [value]:
            producer.produce(topic.name, key=key, value=one, partition=topic.partition(key))
    assert producer.flush(30) == 0


def test_poison_is_put_aside_with_its_reason_and_what_comes_after_it_is_delivered(redis, pair):
    """One bad message costs itself and nothing else."""
    fan, star = pair
    (tweet_id,) = new_ids(1)
    poison = b"\x07" + uuid.uuid4().bytes
    publish(tweet(tweet_id, star), poison=poison)
    eventually(lambda: redis.lrange(layout.home_timeline(fan), 0, -1), [tweet_id, "0"])
    servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPICS["TweetCreated"].dlq])
    found = {}

    def sent():
        if (letter := consumer.poll(1)) is not None and letter.value() == poison:
            found.update(letter.headers())
        return b"magic" in found.get("reason", b"")

    eventually(sent, True)
    consumer.close()


def test_repeats_and_disorder_change_nothing(redis, pair):
    """Ids descend, once each, in whatever order and however often they come."""
    fan, star = pair
    ids = new_ids(20)
    events = [tweet(tweet_id, star) for tweet_id in ids]
    for _ in range(2):
        publish(*random.sample(events, len(events)))
        eventually(lambda: redis.lrange(layout.home_timeline(fan), 0, -1), [*reversed(ids), "0"])
    publish(*events, last := tweet(str(int(ids[-1]) + 1), star))
    eventually(lambda: redis.lrange(layout.home_timeline(fan), 0, -1), [last.tweet_id, *reversed(ids), "0"])


def test_a_deletion_that_comes_first_is_not_undone(redis, pair):
    """Two topics have no order; the tombstone stays in the place of the body."""
    fan, star = pair
    (tweet_id,) = new_ids(1)
    publish(TweetDeleted("d", Source("s", 1), tweet_id, star, None))
    eventually(lambda: redis.get(layout.body(tweet_id)), "")
    publish(tweet(tweet_id, star))
    eventually(lambda: redis.lindex(layout.home_timeline(fan), 0), tweet_id)
    assert redis.get(layout.body(tweet_id)) == ""


def test_a_follow_that_is_told_again_after_the_unfollow_shows_nobody(redis, home, pair):
    """An event is a hint; the row decides, and so a replay of the topic does no harm."""
    fan, star = pair
    key = {"followee_id": {"S": star}, "follower_id": {"S": fan}}
    boto3.client("dynamodb").delete_item(TableName=f"{PREFIX}followers", Key=key)
    event = follow(1, fan, star)
    publish(event, replace(event, following=False))
    eventually(lambda: home.load([fan])[fan].shown, Shown.of([fan]))
    publish(event)
    publish(follow(2, fan, other := f"{star}-other"))
    eventually(lambda: redis.sismember(layout.noted(fan), other), 1)
    assert home.load([fan])[fan].shown == Shown.of([fan])


def test_who_is_muted_is_shown_no_more(home, pair):
    """What they say goes on to be pushed: the reader drops it, and the end of the mute needs no rebuild."""
    fan, star = pair
    table = boto3.resource("dynamodb").Table(f"{PREFIX}mutes")
    table.put_item(Item={"muter_id": fan, "muted_id": star, "muted_at": 1})
    publish(mute(fan, star))
    eventually(lambda: home.load([fan])[fan].shown, Shown.of([fan]))
    (tweet_id,) = new_ids(1)
    publish(tweet(tweet_id, star))
    table.delete_item(Key={"muter_id": fan, "muted_id": star})
    publish(mute(fan, star, muting=False))
    eventually(lambda: home.load([fan])[fan], Timeline([tweet_id], BEGINNING, Shown.of([fan, star])))


@pytest.fixture
def no_worker():
    """Stop the worker of the stack when it has done all there is; start it again afterwards."""
    caught_up("fanout-worker")
    control("stop", "fanout-worker")
    yield
    control("start", "fanout-worker")


def give_up(topic, partition):
    """Lose all there is of a partition, as retention does."""
    client = admin()  # it has to live until it has its answer
    for future in client.delete_records([TopicPartition(topic.name, partition, OFFSET_END)]).values():
        future.result(30)


@pytest.mark.usefixtures("no_worker")
def test_what_kafka_gave_up_makes_all_timelines_cold_before_anything_behind_it_is_delivered(redis, home, pair):
    """They may lack it; whoever reads them builds them anew, from the tables."""
    (fan, star), topic = pair, TOPICS["TweetCreated"]
    lost, *more = new_ids(200)
    found, last = [each for each in more if topic.partition(each) == topic.partition(lost)][:2]
    publish(tweet(lost, star))
    give_up(topic, topic.partition(lost))
    publish(tweet(found, star))
    control("start", "fanout-worker")
    eventually(lambda: redis.exists(layout.home_timeline(fan)), 0, within=60)
    caught_up("fanout-worker")
    warm(home, fan, star)
    publish(tweet(last, star))
    eventually(lambda: redis.lrange(layout.home_timeline(fan), 0, -1), [last, "0"])
