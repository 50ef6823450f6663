"""Followers, edges and tweets, from the real tables."""

import os
import random

import pytest

from fanout_worker.deliveries import StoreAwayError
from fanout_worker.tables import PAGE, Tables, client


@pytest.mark.stack
def test_pages_hold_everyone_once(somebody):
    """However many they are, nobody is left out or told twice."""
    prefix = os.environ.get("TABLE_PREFIX", "")
    dynamodb, star = client(), somebody()
    fans = {somebody() for _ in range(PAGE + 25)}
    rows = [
        {"PutRequest": {"Item": {"followee_id": {"S": star}, "follower_id": {"S": fan}, "followed_at": {"N": "1"}}}}
        for fan in fans
    ]
    for start in range(0, len(rows), 25):
        dynamodb.batch_write_item(RequestItems={f"{prefix}followers": rows[start : start + 25]})
    pages = list(Tables(dynamodb, prefix).followers(star))
    assert len(pages) == 2
    assert sorted(fan for page in pages for fan in page) == sorted(fans)


@pytest.mark.stack
def test_the_latest_are_the_authors_newest_undeleted(somebody):
    """As many as asked for, whatever was deleted in between."""
    prefix = os.environ.get("TABLE_PREFIX", "")
    dynamodb, author, first = client(), somebody(), random.randrange(10**18, 8 * 10**18)
    for n in range(8):
        item = {"tweet_id": {"S": str(first + n)}, "author_id": {"S": author}}
        deleted = {"deleted_at": {"N": "1"}} if n in (3, 4, 5) else {}
        dynamodb.put_item(TableName=f"{prefix}tweets", Item=item | deleted)
    assert Tables(dynamodb, prefix).latest(author, 3) == [str(first + n) for n in (7, 6, 2)]


@pytest.mark.stack
def test_an_edge_is_there_or_not(somebody):
    """In the direction that it has."""
    prefix = os.environ.get("TABLE_PREFIX", "")
    dynamodb, alice, bob = client(), somebody(), somebody()
    item = {"followee_id": {"S": bob}, "follower_id": {"S": alice}, "followed_at": {"N": "1"}}
    dynamodb.put_item(TableName=f"{prefix}followers", Item=item)
    tables = Tables(dynamodb, prefix)
    assert (tables.follows(alice, bob), tables.follows(bob, alice)) == (True, False)


def test_a_store_that_is_away_is_named(monkeypatch):
    """No answer within seconds is an error that invites another try."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
        Tables(client(), "").check()
