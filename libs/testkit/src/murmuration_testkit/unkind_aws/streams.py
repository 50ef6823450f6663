"""A client of the fake's streams, with the methods and the parameters of boto3's that this repository uses."""

from __future__ import annotations

import uuid
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import ParamValidationError

from murmuration_testkit.unkind_aws.client import Client
from murmuration_testkit.unkind_aws.unkindness import Unkindness

if TYPE_CHECKING:
    from murmuration_testkit.unkind_aws.stream import Shard, Stream

LISTED = 100  # shards of one page, at most
RECORDS = 1000  # of one page, at most
EXPIRES = 900.0  # an iterator, in seconds
LENGTHS = {"StreamArn": 37, "ShardId": 28, "ExclusiveStartShardId": 28, "SequenceNumber": 21}


class Iterator(NamedTuple):
    """A place in a shard: behind this sequence number."""

    stream: Stream
    shard: Shard
    after: int
    made_at: float


class Streams(Client):
    """What boto3.client("dynamodbstreams") makes."""

    service = "dynamodbstreams"
    throttled = ("ThrottlingException", "LimitExceededException", "ProvisionedThroughputExceededException")
    shards_listed = LISTED

    def describe_stream(self, **request: Any) -> dict[str, Any]:
        """List shards, perhaps not the newest ones."""
        self._check(request)
        asked = dict(request)
        arn, start = asked.pop("StreamArn"), asked.pop("ExclusiveStartShardId", None)
        limit = asked.pop("Limit", self.shards_listed)
        self._unknown("DescribeStream", asked)

        def act() -> dict[str, Any]:
            stream = self._stream("DescribeStream", arn)
            now = self._aws.now
            kept = [shard for shard in stream.shards.values() if stream.is_kept(shard)]
            listed = [shard for shard in kept if shard.listed_at <= now]
            self._dice.occurred[Unkindness.LISTING_LAG] += len(listed) < len(kept) or any(
                shard.closed_at is not None and shard.end_listed_at > now for shard in listed
            )
            names = [shard.shard_id for shard in listed]
            if start is not None:
                listed = listed[bisect_right(names, start) :]
            page, more = listed[:limit], len(listed) > limit
            last = page[-1].shard_id if page else None
            if page and self._dice.falls(Unkindness.MISSING_SHARD, "DescribeStream", stream.table):
                self._dice.occurred[Unkindness.MISSING_SHARD] += 1
                page.remove(self._aws.random.choice(page))
            description = {
                "StreamArn": arn,
                "StreamLabel": stream.label,
                "StreamStatus": "ENABLED" if stream.enabled else "DISABLED",
                "StreamViewType": stream.view,
                "TableName": stream.table,
                "Shards": [_listed(shard, now) for shard in page],
                **({"LastEvaluatedShardId": last} if more else {}),
            }
            return {"StreamDescription": description}

        return self._call("DescribeStream", self._table(arn), act)

    def get_shard_iterator(self, **request: Any) -> dict[str, Any]:
        """Begin to read a shard."""
        self._check(request)
        arn = request["StreamArn"]

        def act() -> dict[str, Any]:
            asked = dict(request)
            stream = self._stream("GetShardIterator", asked.pop("StreamArn"))
            shard = stream.shards.get(asked.pop("ShardId"))
            kind, number = asked.pop("ShardIteratorType"), int(asked.pop("SequenceNumber", 0))
            self._unknown("GetShardIterator", asked)
            if shard is None or not stream.is_kept(shard):
                raise self._not_found("GetShardIterator", "Shard")
            trimmed = shard.trimmed(self._aws.now)
            oldest = shard.numbers[trimmed - 1] if trimmed else 0
            if kind in ("AFTER_SEQUENCE_NUMBER", "AT_SEQUENCE_NUMBER"):
                if number <= oldest:
                    raise self._trimmed("GetShardIterator")
                after = number if kind == "AFTER_SEQUENCE_NUMBER" else number - 1
            elif kind == "LATEST":
                after = shard.numbers[-1] if shard.numbers else 0
            else:
                after = oldest
            return {"ShardIterator": self._keep(Iterator(stream, shard, after, self._aws.now))}

        return self._call("GetShardIterator", self._table(arn), act)

    def get_records(self, **request: Any) -> dict[str, Any]:
        """Read on; an empty page is no tip."""
        name, limit = request.pop("ShardIterator"), request.pop("Limit", RECORDS)
        self._unknown("GetRecords", request)
        it: Iterator | None = self._aws.iterators.get(name)
        if it is None:
            raise self._error("GetRecords", "ValidationException", "Invalid ShardIterator")

        def act() -> dict[str, Any]:
            now, shard = self._aws.now, it.shard
            if now - it.made_at > EXPIRES:
                raise self._error("GetRecords", "ExpiredIteratorException", "Iterator expired")
            if not it.stream.is_kept(shard):
                raise self._trimmed("GetRecords")
            trimmed = shard.trimmed(now)
            begin, end = bisect_right(shard.numbers, it.after), shard.visible(now)
            if begin < trimmed:
                raise self._trimmed("GetRecords")
            self._dice.occurred[Unkindness.STREAM_LAG] += end < len(shard.records)
            page = slice(begin, min(end, begin + limit))
            if begin < end and self._dice.falls(Unkindness.EMPTY_PAGE, "GetRecords", it.stream.table):
                self._dice.occurred[Unkindness.EMPTY_PAGE] += 1
                page = slice(begin, begin)
            records = [self._record(record) for record in shard.records[page]]
            answer: dict[str, Any] = {"Records": records}
            if shard.closed_at is None or page.stop < len(shard.records):
                after = shard.numbers[page.stop - 1] if page.stop > page.start else it.after
                answer["NextShardIterator"] = self._keep(Iterator(it.stream, shard, after, now))
            return answer

        return self._call("GetRecords", it.stream.table, act)

    def _record(self, record: dict[str, Any]) -> dict[str, Any]:
        change = record["dynamodb"]
        at = change["ApproximateCreationDateTime"]
        if self._dice.falls(Unkindness.ROUNDED_TIME):
            self._dice.occurred[Unkindness.ROUNDED_TIME] += at != int(at)
            at = int(at)
        return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": at}}

    def _keep(self, iterator: Iterator) -> str:
        name = f"{iterator.stream.arn}|{uuid.UUID(int=self._aws.random.getrandbits(128))}"
        self._aws.iterators[name] = iterator
        return name

    def _check(self, request: dict[str, Any]) -> None:
        """Refuse what boto3 itself refuses."""
        for name, shortest in LENGTHS.items():
            if name in request and len(request[name]) < shortest:
                report = (
                    f"Invalid length for parameter {name}, value: {len(request[name])}, valid min length: {shortest}"
                )
                raise ParamValidationError(report=report)

    def _stream(self, operation: str, arn: str) -> Stream:
        stream = self._aws.streams.get(arn)
        if stream is None or not (stream.enabled or any(map(stream.is_kept, stream.shards.values()))):
            raise self._not_found(operation, "Stream")
        return stream

    def _table(self, arn: str) -> str:
        return self._aws.streams[arn].table if arn in self._aws.streams else ""

    def _not_found(self, operation: str, what: str) -> Exception:
        return self._error(operation, "ResourceNotFoundException", f"Requested resource not found: {what} not found")

    def _trimmed(self, operation: str) -> Exception:
        message = "The operation attempted to read past the oldest stream record in a shard"
        return self._error(operation, "TrimmedDataAccessException", message)


def _listed(shard: Shard, now: float) -> dict[str, Any]:
    ended = shard.closed_at is not None and shard.end_listed_at <= now
    numbers = {
        "StartingSequenceNumber": str(shard.first),
        **({"EndingSequenceNumber": str(shard.last)} if ended else {}),
    }
    return {
        "ShardId": shard.shard_id,
        "SequenceNumberRange": numbers,
        **({"ParentShardId": shard.parent_id} if shard.parent_id else {}),
    }
