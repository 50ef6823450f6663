"""Followers, from the real table."""

import os

import pytest

from fanout_worker.deliveries import StoreAwayError
from fanout_worker.followers import PAGE, Followers, client


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
    pages = list(Followers(dynamodb, prefix).pages(star))
    assert len(pages) == 2
    assert sorted(fan for page in pages for fan in page) == sorted(fans)


def test_a_store_that_is_away_is_named(monkeypatch):
    """No answer within seconds is an error that invites another try."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    with pytest.raises(StoreAwayError, match=r"127\.0\.0\.1:9"):
        Followers(client(), "").check()
