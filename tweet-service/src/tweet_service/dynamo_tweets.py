"""Tweets in DynamoDB: each write is one request for one item."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from contracts.ids import is_tweet_id
from contracts.living_tweets import listing
from contracts.tables import TWEET_CLAIMS, TWEETS
from murmuration_edge import cursors
from murmuration_runtime import traces
from murmuration_runtime.dynamo import errors_named, items
from tweet_service.tweets import Claim, Kept, TakenIdError, Tweet, Tweets

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TOP = "9" * 19
CLAIM_SECONDS = 86_400  # how long a key is remembered, at least
MOST_ROWS = 1_000  # that a query looks at; beyond that DynamoDB ends it by size
MORE = 4  # times as many as the query before, which found too few


class DynamoTweets:
    """The Store on the tables tweets and tweet_claims."""

    def __init__(
        self, dynamodb: "DynamoDBClient", table_prefix: str, is_switched: Callable[[], bool] = lambda: True
    ) -> None:
        """is_switched: whether the migration live-tweets is; before that, older releases need the text of every row."""
        self._dynamodb = dynamodb
        self._is_switched = is_switched
        self._table = f"{table_prefix}{TWEETS.name}"
        self._claims = f"{table_prefix}{TWEET_CLAIMS.name}"

    def check(self) -> None:
        """Raise StoreAwayError unless the table answers."""
        with errors_named():
            self._dynamodb.get_item(TableName=self._table, Key={TWEETS.tweet_id: {"S": "-"}})

    def add(self, tweet: Tweet) -> None:
        try:
            with errors_named():
                self._dynamodb.put_item(
                    TableName=self._table,
                    Item={
                        TWEETS.tweet_id: {"S": tweet.tweet_id},
                        TWEETS.author_id: {"S": tweet.author_id},
                        TWEETS.live_author_id: {"S": tweet.author_id},
                        TWEETS.text: {"S": tweet.text},
                        TWEETS.created_at: {"N": str(tweet.created_at)},
                        **_trace(),
                    },
                    ConditionExpression="attribute_not_exists(tweet_id)",
                )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            raise TakenIdError(tweet.tweet_id) from error

    def claim(self, author_id: str, key: str, claim: Claim) -> Claim:
        item: Any = {
            **_claim_key(author_id, key),
            TWEET_CLAIMS.tweet_id: {"S": claim.tweet_id},
            TWEET_CLAIMS.created_at: {"N": str(claim.created_at)},
            TWEET_CLAIMS.digest: {"S": claim.digest},
            TWEET_CLAIMS.expires_at: {"N": str(claim.created_at // 1000 + CLAIM_SECONDS)},
        }
        try:
            with errors_named():
                self._dynamodb.put_item(
                    TableName=self._claims,
                    Item=item,
                    ConditionExpression="attribute_not_exists(author_id)",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as error:
            item = error.response["Item"]  # type: ignore[typeddict-item]
        return Claim(
            item[TWEET_CLAIMS.tweet_id]["S"],
            int(item[TWEET_CLAIMS.created_at]["N"]),
            item[TWEET_CLAIMS.digest]["S"],
        )

    def unclaim(self, author_id: str, key: str, tweet_id: str) -> None:
        with errors_named(), suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            self._dynamodb.delete_item(
                TableName=self._claims,
                Key=_claim_key(author_id, key),
                ConditionExpression="tweet_id = :tweet",
                ExpressionAttributeValues={":tweet": {"S": tweet_id}},
            )

    def find(self, tweet_id: str) -> Kept | None:
        with errors_named():
            answer = self._dynamodb.get_item(
                TableName=self._table, Key={TWEETS.tweet_id: {"S": tweet_id}}, ConsistentRead=True
            )
        item = answer.get("Item")
        return _kept(item) if item else None

    def find_all(self, tweet_ids: Collection[str]) -> Mapping[str, Kept]:
        keys = [{TWEETS.tweet_id: {"S": tweet_id}} for tweet_id in tweet_ids]
        return {item[TWEETS.tweet_id]["S"]: _kept(item) for item in items(self._dynamodb, self._table, keys)}

    def delete(self, tweet_id: str, now: int) -> None:
        trace = _trace()
        without_text: Any = {"ExpressionAttributeNames": {"#text": TWEETS.text}} if self._is_switched() else {}
        with errors_named(), suppress(self._dynamodb.exceptions.ConditionalCheckFailedException):
            self._dynamodb.update_item(
                TableName=self._table,
                Key={TWEETS.tweet_id: {"S": tweet_id}},
                UpdateExpression=f"SET deleted_at = :now{', traceparent = :trace' if trace else ''}"
                f" REMOVE live_author_id{', #text' if without_text else ''}",
                ConditionExpression="attribute_exists(tweet_id) AND attribute_not_exists(deleted_at)",
                ExpressionAttributeValues={
                    ":now": {"N": str(now)},
                    **({":trace": trace[TWEETS.traceparent]} if trace else {}),
                },
                **without_text,
            )

    def undeleted(self, author_id: str, below: str | None) -> tuple[list[str], str | None]:
        """Look at a hundred rows at most."""
        items, rest = self._down(author_id, below or _TOP, 100)
        return [item[TWEETS.tweet_id]["S"] for item in items], rest

    def by_author(self, author_id: str, limit: int, cursor: str | None) -> Tweets:
        below: str | None = _read_cursor(cursor) if cursor else _TOP
        tweets: list[Tweet] = []
        rows = limit + 1
        while below and len(tweets) <= limit:
            items, below = self._down(author_id, below, rows)
            tweets += [_tweet(item) for item in items]
            rows = min(MORE * rows, MOST_ROWS)
        page = tweets[:limit]
        return Tweets(page, cursors.encode(page[-1].tweet_id) if len(tweets) > limit else None)

    def _down(self, author_id: str, below: str, most: int) -> tuple[list[Any], str | None]:
        """Look at so many of an author's tweets below an id; return the undeleted, and below which id to go on."""
        index, author = listing(is_switched=self._is_switched())
        with errors_named():
            answer: Any = self._dynamodb.query(
                TableName=self._table,
                IndexName=index,
                KeyConditionExpression=f"{author} = :author AND tweet_id < :below",
                FilterExpression="attribute_not_exists(deleted_at)",
                ExpressionAttributeValues={":author": {"S": author_id}, ":below": {"S": below}},
                ScanIndexForward=False,
                Limit=most,
            )
        last = answer.get("LastEvaluatedKey")
        return answer["Items"], last[TWEETS.tweet_id]["S"] if last else None


def _trace() -> Any:
    """Return the attribute by which the bridge finds the trace of this request; none if it is not traced."""
    traceparent = traces.traceparent()
    return {TWEETS.traceparent: {"S": traceparent}} if traceparent else {}


def _claim_key(author_id: str, key: str) -> Any:
    return {TWEET_CLAIMS.author_id: {"S": author_id}, TWEET_CLAIMS.idempotency_key: {"S": key}}


def _kept(item: Any) -> Kept:
    return Kept(_tweet(item), TWEETS.deleted_at in item)


def _tweet(item: Any) -> Tweet:
    return Tweet(
        item[TWEETS.tweet_id]["S"],
        item[TWEETS.author_id]["S"],
        item[TWEETS.text]["S"] if TWEETS.text in item else "",
        int(item[TWEETS.created_at]["N"]),
    )


def _read_cursor(cursor: str) -> str:
    tweet_id = cursors.decode(cursor)
    if tweet_id is None or not is_tweet_id(tweet_id):
        raise cursors.BadCursorError
    return tweet_id
