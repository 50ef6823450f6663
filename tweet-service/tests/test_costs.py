"""What is asked of DynamoDB for an author most of whose tweets are deleted."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from murmuration_runtime.dynamo import client
from tweet_service.dynamo_tweets import DynamoTweets

PREFIX = os.environ.get("TABLE_PREFIX", "")


@pytest.mark.stack
def test_deleted_tweets_cost_no_queries(say, somebody):
    """A page and a look of the eraser are one query each, which meets no deleted row; also when nothing is left."""
    author, dynamodb, answers = somebody(), client(), []
    dynamodb.meta.events.register("after-call.dynamodb.Query", lambda parsed, **_: answers.append(parsed))
    store = DynamoTweets(dynamodb, PREFIX)
    said = [say(author) for _ in range(1_003)]
    with ThreadPoolExecutor(8) as threads:
        [*threads.map(store.add, said)]
        [*threads.map(lambda tweet: store.delete(tweet.tweet_id, 1), said[3:])]
    assert store.by_author(author, 20, None).tweets == said[2::-1]
    assert store.undeleted(author, None) == ([tweet.tweet_id for tweet in said[2::-1]], None)
    assert [answer["ScannedCount"] for answer in answers] == [3, 3]
    for tweet in said[:3]:
        store.delete(tweet.tweet_id, 1)
    assert store.by_author(author, 20, None).tweets == []
    assert store.undeleted(author, None) == ([], None)
    assert [answer["ScannedCount"] for answer in answers[2:]] == [0, 0]


class ManyDeleted:
    """An author's tweets, of which all but the oldest few are deleted; counts what is asked."""

    def __init__(self, deleted, kept):
        self._ids = [str(10**18 + n) for n in range(deleted + kept)]
        self._kept = {*self._ids[:kept]}
        self.queries = 0

    def query(self, ExpressionAttributeValues, Limit, **_):  # noqa: N803 - DynamoDB's names
        self.queries += 1
        below = [each for each in reversed(self._ids) if each < ExpressionAttributeValues[":below"]["S"]]
        items = [
            {"tweet_id": {"S": each}, "author_id": {"S": "ann"}, "text": {"S": "hi"}, "created_at": {"N": "1"}}
            for each in below[:Limit]
            if each in self._kept
        ]
        more = {"LastEvaluatedKey": {"tweet_id": {"S": below[Limit - 1]}}} if len(below) > Limit else {}
        return {"Items": items} | more


@pytest.mark.parametrize("limit", [1, 20, 200])
def test_a_page_below_many_deleted_tweets_takes_few_queries(limit):
    """Before the switch, too: ten thousand of them took five thousand."""
    table = ManyDeleted(9_990, 3)
    page = DynamoTweets(table, "", lambda: False).by_author("ann", limit, None)
    assert len(page.tweets) == min(limit, 3)
    assert table.queries <= 16
