"""A tweet that is not pushed to anybody is read by everybody who follows its author."""

import os
import time

import boto3
import pytest
from redis import Redis

from contracts.ids import first_id
from murmuration_testkit.people import Person
from murmuration_testkit.waiting import eventually

AHEAD_MS = 10_000  # longer than workers and readers take to hear of it


@pytest.fixture
def users():
    return boto3.resource("dynamodb").Table(f"{os.environ.get('TABLE_PREFIX', '')}users")


@pytest.fixture
def redis():
    with Redis.from_url(os.environ["REDIS_URL"], decode_responses=True) as redis:
        yield redis


def test_what_a_celebrity_says_is_seen_though_it_is_not_pushed(users, redis):
    """From the promotion's id on, here as a worker writes it; what came before is there too, once, newest first."""
    alice, star = Person("Alice").join(), Person("Star").join()
    alice.follow(star)
    eventually(lambda: star.counts()[0], 1)
    assert alice.timeline() == []
    since = first_id(time.time_ns() // 1_000_000 + AHEAD_MS)
    users.update_item(
        Key={"user_id": star.user_id},
        UpdateExpression="SET celebrity_since = :since",
        ExpressionAttributeValues={":since": since},
    )
    said = [star.tweet("pushed")]

    def promoted():
        """Say something more each time, until one is past the promotion."""
        said.append(star.tweet(f"the {len(said)}th"))
        return said[-1] > since

    eventually(promoted, expected=True, within=60, every=1)
    eventually(alice.whole_timeline, said[::-1])
    assert said[-1] not in redis.lrange(f"home_timeline:{{{alice.user_id}}}", 0, -1)
