"""Pages, places and errors: on answers as AWS gives them, over HTTP too, and on DynamoDB Local's own."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from cdc_bridge.dynamo_streams import PATIENCE, GapError, Streams
from cdc_bridge.lineage import Shard
from murmuration_runtime import dynamo
from murmuration_runtime.errors import StoreAwayError, StoreRefusedError
from murmuration_testkit.waiting import eventually


class Answers:
    """A boto3 client that gives prepared answers, and remembers what it was asked."""

    def __init__(self, **answers):
        self._answers = answers
        self.asked = []

    def __getattr__(self, call):
        def answer(**arguments):
            self.asked.append((call, arguments))
            given = self._answers[call].pop(0)
            if isinstance(given, Exception):
                raise given
            return given

        return answer

    def places(self):
        return [asked.get("SequenceNumber") for call, asked in self.asked if call == "get_shard_iterator"]


def error(code):
    answer = {"Error": {"Code": code, "Message": "as AWS says it"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    return ClientError(answer, "GetRecords")


def test_a_listing_is_read_page_by_page_to_its_end():
    """A child on the second page would otherwise seem to have no siblings, and its parent to have aged out."""
    client = Answers(
        describe_stream=[
            {"StreamDescription": {"Shards": [{"ShardId": "a"}], "LastEvaluatedShardId": "a"}},
            {"StreamDescription": {"Shards": [{"ShardId": "b", "ParentShardId": "a"}]}},
        ]
    )
    assert Streams(None, client).shards("arn") == [Shard("a", None), Shard("b", "a")]
    assert [asked.get("ExclusiveStartShardId") for _, asked in client.asked] == [None, "a"]


@pytest.mark.parametrize("published", [None, "000000000000000000007"])
def test_an_expired_iterator_is_opened_again_after_what_was_published(published):
    """Not after what was read, and not at the tip: from the beginning if nothing is published yet."""
    client = Answers(
        get_shard_iterator=[{"ShardIterator": "first"}, {"ShardIterator": "second"}],
        get_records=[
            {"Records": [], "NextShardIterator": "old"},
            error("ExpiredIteratorException"),
            {"Records": ["record"]},
        ],
    )
    pages = Streams(None, client).open("arn", "shard")
    assert list(pages.read(None).records) == []
    page = pages.read(published)
    assert (list(page.records), page.last) == (["record"], True)
    assert client.places() == [None, published]
    kinds = [asked["ShardIteratorType"] for call, asked in client.asked if call == "get_shard_iterator"]
    assert kinds == ["TRIM_HORIZON", "AFTER_SEQUENCE_NUMBER" if published else "TRIM_HORIZON"]


@pytest.mark.parametrize("code", ["TrimmedDataAccessException", "ResourceNotFoundException", "ValidationException"])
@pytest.mark.parametrize("call", ["get_shard_iterator", "get_records"])
def test_what_is_lost_is_a_gap(code, call):
    """Asking again changes nothing, and starting elsewhere would skip records in silence."""
    client = Answers(**({"get_shard_iterator": [{"ShardIterator": "first"}]} | {call: [error(code)]}))
    with pytest.raises(GapError, match="shard-7"):
        Streams(None, client).open("arn", "shard-7").read("000000000000000000007")


@pytest.mark.parametrize(
    "failure",
    [
        error("ProvisionedThroughputExceededException"),
        error("WhateverException"),
        EndpointConnectionError(endpoint_url="http://x"),
    ],
)
def test_what_passes_is_no_gap(failure):
    """Throttled, or away: the same call will do later."""
    client = Answers(get_shard_iterator=[failure])
    with pytest.raises(StoreAwayError, match="shard-7"):
        Streams(None, client).open("arn", "shard-7").read(None)


@pytest.mark.parametrize("is_to_come", [True, False])
def test_a_table_without_a_stream_is_waited_for_in_peace_if_a_migration_brings_it(is_to_come):
    """Else somebody must be told: nothing of what is written to it is published."""
    streams = Streams(Answers(describe_table=[{"Table": {}}]), None, "", lambda table: is_to_come and table == "users")
    if is_to_come:
        assert streams.arn("users") is None
    else:
        with pytest.raises(StoreAwayError, match="table users must have a stream"):
            streams.arn("users")


RECORD = {"eventID": "1", "dynamodb": {"ApproximateCreationDateTime": 1.5e9, "Keys": {"k": {"B": "AAEC"}}}}
FIRST = (200, b'{"ShardIterator": "first"}')
PAGE = (200, json.dumps({"Records": [RECORD], "NextShardIterator": "next"}).encode())


def refusal(status, code):
    return status, json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"}).encode()


class Wire:
    """An endpoint that gives prepared answers, and remembers the headers of what it was asked."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.asked = []
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                wire.asked.append(self.headers)
                status, body, *cut = wire.answers.pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) + sum(cut)))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = bool(cut)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)  # a kept connection must not hold up the end
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def over_http(monkeypatch):
    """Open readers whose endpoint gives the prepared answers."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "test")
    opened = []

    def pages(*answers):
        wire = Wire(answers)
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", wire.url)
        client = dynamo.streams_client(**PATIENCE)
        opened.extend((client, wire))
        return Streams(None, client).open("arn:" + "x" * 40, "shardId-0000000000000000000007"), wire

    yield pages
    for part in opened:
        part.close()


class TestOverHTTP:
    def test_a_page_is_the_json_that_came(self, over_http):
        """Nothing is parsed a second time: that is two thirds of what botocore takes."""
        pages, wire = over_http(FIRST, PAGE)
        page = pages.read(None)
        assert (page.records, page.last) == ([RECORD], False)
        assert all(headers["Authorization"].startswith("AWS4-HMAC-SHA256 ") for headers in wire.asked)

    @pytest.mark.parametrize(
        "passing",
        [
            refusal(400, "ProvisionedThroughputExceededException"),
            refusal(400, "ThrottlingException"),
            refusal(500, "InternalServerError"),
            (503, b"<html>"),
        ],
        ids=["throughput", "throttled", "broken", "proxy"],
    )
    def test_what_passes_is_asked_again(self, over_http, passing):
        """Botocore's retries are behind these pages too."""
        pages, wire = over_http(FIRST, passing, PAGE)
        assert pages.read(None).records == [RECORD]
        assert len(wire.asked) == 3

    @pytest.mark.parametrize(
        ("lasting", "error"),
        [
            ((refusal(400, "TrimmedDataAccessException"),), GapError),
            ((refusal(400, "AccessDeniedException"),), StoreRefusedError),
            ((refusal(500, "InternalServerError"),) * 2, StoreAwayError),
            (((200, PAGE[1][:60], 40),), StoreAwayError),
        ],
        ids=["trimmed", "denied", "broken", "cut short"],
    )
    def test_what_lasts_is_named(self, over_http, lasting, error):
        """As everywhere else: a gap if asking again changes nothing."""
        pages, _ = over_http(FIRST, *lasting)
        with pytest.raises(error):
            pages.read("000000000000000000000000000000007")

    def test_an_expired_iterator_is_renewed(self, over_http):
        """Its error comes through as boto3's own."""
        pages, wire = over_http(FIRST, refusal(400, "ExpiredIteratorException"), FIRST, PAGE)
        assert pages.read(None).records == [RECORD]
        assert len(wire.asked) == 4


def put(dynamodb, table, *ids):
    for name in ids:
        dynamodb.put_item(TableName=table, Item={"followee_id": {"S": name}})


def ids(page):
    return [record["dynamodb"]["Keys"]["followee_id"]["S"] for record in page.records]


@pytest.fixture
def streams(dynamodb, streams_client):
    return Streams(dynamodb, streams_client)


@pytest.mark.stack
class TestOnDynamoDB:
    def test_a_closed_shards_last_page_has_records_and_no_next_one(self, dynamodb, streams, followers):
        """DynamoDB Local closes a shard when its stream is switched off."""
        arn = streams.arn(followers)
        put(dynamodb, followers, "a", "b")
        [shard] = streams.shards(arn)
        pages = streams.open(arn, shard.shard_id)
        page = eventually(lambda: (page := pages.read(None)).records and page)
        assert (ids(page), page.last) == (["a", "b"], False)
        put(dynamodb, followers, "c")
        dynamodb.update_table(TableName=followers, StreamSpecification={"StreamEnabled": False})
        page = pages.read(page.records[-1]["dynamodb"]["SequenceNumber"])
        assert (ids(page), page.last) == (["c"], True)

    def test_a_new_reader_begins_behind_what_was_published(self, dynamodb, streams, followers):
        """The record at the checkpoint itself is not read again."""
        arn = streams.arn(followers)
        put(dynamodb, followers, "a", "b", "c")
        [shard] = streams.shards(arn)
        page = streams.open(arn, shard.shard_id).read(None)
        published = page.records[0]["dynamodb"]["SequenceNumber"]
        assert ids(streams.open(arn, shard.shard_id).read(published)) == ["b", "c"]

    def test_a_shard_that_was_empty_is_not_trimmed(self, dynamodb, streams, followers, other):
        """Local says so of an iterator from before a shard's first record, once another table has been written to."""
        arn = streams.arn(followers)
        [shard] = streams.shards(arn)
        pages = streams.open(arn, shard.shard_id)
        assert ids(pages.read(None)) == []
        put(dynamodb, other, "x")
        put(dynamodb, followers, "a")
        assert ids(pages.read(None)) == ["a"]

    @pytest.mark.parametrize("published", [None, "000000000000000000007"])
    def test_a_shard_that_is_gone_is_a_gap(self, streams, followers, published):
        """Whatever its checkpoint was."""
        with pytest.raises(GapError, match="shardId-00000001000000000000-00000000"):
            streams.open(streams.arn(followers), "shardId-00000001000000000000-00000000").read(published)

    def test_a_place_that_is_none_is_a_gap(self, streams, followers):
        """A checkpoint that somebody wrote by hand."""
        arn = streams.arn(followers)
        [shard] = streams.shards(arn)
        with pytest.raises(GapError, match=shard.shard_id):
            streams.open(arn, shard.shard_id).read("seven")

    def test_a_table_that_is_not_there_is_waited_for(self, streams):
        """With its name, so that the log says what to create."""
        with pytest.raises(StoreAwayError, match="table bridge-nowhere"):
            streams.arn("bridge-nowhere")

    def test_a_stream_that_shows_too_little_is_refused(self, dynamodb, streams, followers):
        """Keys alone make no event."""
        dynamodb.update_table(TableName=followers, StreamSpecification={"StreamEnabled": False})
        with pytest.raises(StoreAwayError, match="NEW_AND_OLD_IMAGES"):
            streams.arn(followers)
