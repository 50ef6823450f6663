"""DynamoDB Streams as pages of records: the only place that reads them.

Rule: a page's records come before the question whether another page follows, because the last page of a closed shard
has records and no next iterator.

Reading is botocore's in all but one thing: a page stays the JSON that came. Signing, credentials, endpoints, retries
and errors are its own.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ParamValidationError

from cdc_bridge.dynamo_errors import errors_about
from cdc_bridge.dynamo_migrations import progress_of
from cdc_bridge.lineage import Shard
from cdc_bridge.pages import FULL_PAGE, GapError, Page, TrimmedError
from contracts import migrations, table_files
from contracts.tables import MIGRATIONS
from contracts.topic import DATA
from murmuration_runtime import dynamo
from murmuration_runtime.errors import StoreAwayError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_dynamodbstreams.type_defs import ShardTypeDef

PATIENCE: Any = {
    "attempts": 2,
    "connect_seconds": 1,
    "read_seconds": 3,  # a call and its retry end within a lease of ten seconds
}
_TRIMMED = "TrimmedDataAccessException"  # older than 24 hours
_LOST = {
    _TRIMMED,
    "ResourceNotFoundException",  # the shard or its stream is gone; DynamoDB Local's word for trimmed
    "ValidationException",  # no such sequence number
}


class Streams:
    """The streams of the tables under one prefix."""

    def __init__(
        self,
        dynamodb: DynamoDBClient,
        streams: DynamoDBStreamsClient,
        table_prefix: str = "",
        is_still_to_come: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take whether a table that has no stream is to get its first one by a migration."""
        self._dynamodb = dynamodb
        self._streams = streams
        self._prefix = table_prefix
        self._is_still_to_come = is_still_to_come

    def arn(self, table: str) -> str | None:
        """Return the ARN of the table's stream; None while it is still to come."""
        name = self._prefix + table
        with _errors(f"table {name}"):
            description = self._dynamodb.describe_table(TableName=name)["Table"]
        view = description.get("StreamSpecification", {}).get("StreamViewType")
        if view is None and self._is_still_to_come(table):
            return None
        if view != "NEW_AND_OLD_IMAGES":
            raise StoreAwayError(f"table {name} must have a stream of NEW_AND_OLD_IMAGES, not {view}")
        return description["LatestStreamArn"]

    def shards(self, stream_arn: str) -> list[Shard]:
        """List every shard of the stream, page by page to the end."""
        return [Shard(shard["ShardId"], shard.get("ParentShardId")) for shard in self._listed(stream_arn)]

    def is_closed(self, stream_arn: str, shard_id: str) -> bool:
        """Say whether a shard has an end; one that is not listed may have none."""
        with suppress(GapError):
            for shard in self._listed(stream_arn):
                if shard["ShardId"] == shard_id:
                    return "EndingSequenceNumber" in shard.get("SequenceNumberRange", {})
        return False

    def _listed(self, stream_arn: str) -> Iterator[ShardTypeDef]:
        after: str | None = None
        while True:
            with _errors(stream_arn, gap="the stream is gone"):
                answer = (
                    self._streams.describe_stream(StreamArn=stream_arn, ExclusiveStartShardId=after)
                    if after
                    else self._streams.describe_stream(StreamArn=stream_arn)
                )["StreamDescription"]
            yield from answer["Shards"]
            after = answer.get("LastEvaluatedShardId")
            if after is None:
                return

    def open(self, stream_arn: str, shard_id: str) -> ShardPages:
        """Prepare to read one shard."""
        return ShardPages(self._streams, stream_arn, shard_id, partial(self.is_closed, stream_arn, shard_id))


class ShardPages:
    """Reads one shard in order. After an error, take a new one: it begins after what was published."""

    def __init__(
        self, streams: DynamoDBStreamsClient, stream_arn: str, shard_id: str, is_closed: Callable[[], bool]
    ) -> None:
        self.is_closed = is_closed
        self._streams = streams
        self._stream_arn = stream_arn
        self._shard_id = shard_id
        self._iterator: str | None = None

    def read(self, after: str | None) -> Page:
        """Read on; a new or expired iterator begins after this sequence number, None being the beginning."""
        if self._iterator is None:
            self._iterator = self._begin(after)
        try:
            return self._read(self._iterator)
        except _IteratorExpiredError:
            return self._read(self._begin(after))
        except GapError:
            if after is not None:
                raise
            # DynamoDB Local calls an iterator trimmed if its shard was empty and other tables wrote before the shard's
            # first record. Nothing can be lost: iterators live 15 minutes, records 24 hours. A real gap says so again.
            return self._read(self._begin(None))

    def _begin(self, after: str | None) -> str:
        with _errors(f"shard {self._shard_id}", gap=f"after {after or 'its beginning'}"):
            answer = (
                self._streams.get_shard_iterator(
                    StreamArn=self._stream_arn, ShardId=self._shard_id, ShardIteratorType="TRIM_HORIZON"
                )
                if after is None
                else self._streams.get_shard_iterator(
                    StreamArn=self._stream_arn,
                    ShardId=self._shard_id,
                    ShardIteratorType="AFTER_SEQUENCE_NUMBER",
                    SequenceNumber=after,
                )
            )
        return answer["ShardIterator"]

    def _read(self, iterator: str) -> Page:
        with _errors(f"shard {self._shard_id}", gap="while reading on"):
            answer = self._streams.get_records(ShardIterator=iterator, Limit=FULL_PAGE)
        self._iterator = answer.get("NextShardIterator")
        return Page(answer["Records"], last=self._iterator is None)


class _IteratorExpiredError(Exception):
    """Fifteen minutes passed since the last page."""


@contextmanager
def _errors(what: str, gap: str | None = None) -> Iterator[None]:
    """Name AWS's errors by what the caller should do."""
    with errors_about(what):
        try:
            yield
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == "ExpiredIteratorException":
                raise _IteratorExpiredError from error
            if gap is not None and code in _LOST:
                kind = TrimmedError if code == _TRIMMED else GapError
                raise kind(f"{what}, {gap}: {error}") from error
            raise
        except ParamValidationError as error:  # boto3 itself knows that this is no sequence number
            raise GapError(f"{what}, {gap}: {error}") from error


def connect(table_prefix: str) -> tuple[DynamoDBClient, Streams]:
    """Make the clients from boto3's own environment variables."""
    dynamodb = dynamo.client(**PATIENCE)
    known = migrations.load(DATA, table_files.load(DATA))

    def is_still_to_come(table: str) -> bool:
        name = migrations.switching_stream(table, known)
        return name is not None and MIGRATIONS.switched_at not in progress_of(dynamodb, table_prefix, name)

    return dynamodb, Streams(dynamodb, dynamo.streams_client(**PATIENCE), table_prefix, is_still_to_come)
