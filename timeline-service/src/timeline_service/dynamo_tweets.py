"""What was said: the table tweets, by id and by author."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from contracts.living_tweets import Listing, listing
from contracts.tables import TWEETS
from murmuration_runtime import deadlines
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.dynamo import errors_named, items
from murmuration_timelines.layout import BEGINNING
from murmuration_timelines.merge import Run
from murmuration_timelines.tweets import Tweet

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

QUERIES = 8  # at once, over all requests: fewer than the gate has places, so that other calls find one
LONGEST_SECONDS = 60.0  # that anybody waits for theirs, who has no deadline
SHOWN: dict[str, Any] = {
    "ProjectionExpression": "tweet_id, author_id, #text, created_at, deleted_at",
    "ExpressionAttributeNames": {"#text": TWEETS.text},
}


class DynamoTweets:
    """The table tweets."""

    def __init__(
        self, dynamodb: "DynamoDBClient", table_prefix: str, is_switched: Callable[[], bool] = lambda: True
    ) -> None:
        """is_switched: whether the migration live-tweets is."""
        self._dynamodb = dynamodb
        self._is_switched = is_switched
        self._table = f"{table_prefix}{TWEETS.name}"
        self._threads = ThreadPoolExecutor(QUERIES, thread_name_prefix="tweets")

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        with errors_named():
            key: Any = {TWEETS.tweet_id: {"S": "-"}}
            self._dynamodb.get_item(TableName=self._table, Key=key, ProjectionExpression=TWEETS.tweet_id)

    def ids(self, below: Mapping[str, str], count: int) -> dict[str, Run]:
        """Ask one query for each author; so many tweets are looked at, the deleted among them are left out."""
        where = listing(is_switched=self._is_switched())

        def ask(request: Context, author: tuple[str, str]) -> tuple[str, Run]:
            return request.run(self._of_author, where, count, author)

        left = deadlines.remaining(LONGEST_SECONDS)
        try:
            return dict(self._threads.map(ask, (copy_context() for _ in below), below.items(), timeout=left))
        except TimeoutError:
            raise DeadlineError("DynamoDB has not yet answered what others asked for, and then this request") from None

    def tweets(self, tweet_ids: Iterable[str]) -> dict[str, Tweet]:
        keys = [{TWEETS.tweet_id: {"S": tweet_id}} for tweet_id in tweet_ids]
        found = items(self._dynamodb, self._table, keys, **SHOWN)
        return {item[TWEETS.tweet_id]["S"]: _tweet(item) for item in found if TWEETS.deleted_at not in item}

    def _of_author(self, where: Listing, count: int, author: tuple[str, str]) -> tuple[str, Run]:
        with errors_named():
            answer = self._dynamodb.query(
                TableName=self._table,
                IndexName=where.index_name,
                KeyConditionExpression=f"{where.author} = :author AND tweet_id < :below",
                FilterExpression="attribute_not_exists(deleted_at)",
                ProjectionExpression=TWEETS.tweet_id,
                ExpressionAttributeValues={":author": {"S": author[0]}, ":below": {"S": author[1]}},
                ScanIndexForward=False,
                Limit=count,
            )
        floor = answer["LastEvaluatedKey"][TWEETS.tweet_id]["S"] if "LastEvaluatedKey" in answer else BEGINNING
        return author[0], Run([item[TWEETS.tweet_id]["S"] for item in answer["Items"]], floor)


def _tweet(item: Any) -> Tweet:
    return Tweet.written(
        item[TWEETS.tweet_id]["S"],
        item[TWEETS.author_id]["S"],
        item[TWEETS.text]["S"],
        int(item[TWEETS.created_at]["N"]),
    )
