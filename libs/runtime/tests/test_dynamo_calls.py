"""The short way of a call: what is asked, signed, answered and refused is as if botocore had done it."""

import json
import os
import socket
import ssl
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)

from murmuration_runtime import dynamo
from murmuration_runtime.dynamo_calls import SHORT
from murmuration_runtime.dynamo_wire import Request, Wire
from murmuration_testkit.certificates import Authority
from murmuration_testkit.silent_store import silent_store

TABLE = f"{os.environ.get('TABLE_PREFIX', '')}followers"
ASKED = Request("", "DynamoDB_20120810.GetItem", b'{"TableName": "t"}')


@contextmanager
def answering(answer, certified=None):
    """Serve on loopback: answer(handler, body) is called for each request; give the URL and the connections made."""
    connections = []

    class Store(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            connections.append(self.client_address)
            super().setup()

        def do_POST(self):
            said = answer(self, self.rfile.read(int(self.headers["Content-Length"])))
            if said is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as it:
        it.daemon_threads = True
        it.block_on_close = False
        if certified:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certified)
            it.socket = context.wrap_socket(it.socket, server_side=True)
        threading.Thread(target=it.serve_forever, daemon=True).start()
        try:
            yield f"http{'s' if certified else ''}://127.0.0.1:{it.server_port}", connections
        finally:
            it.shutdown()


@contextmanager
def no_room():
    """Give a port whose queue of connections is full: Linux lets whoever comes next wait."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as filling:
        port = full.getsockname()[1]
        for _ in range(4):
            one = filling.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        yield port


def wire(credentials=None, ca_file="/dev/null"):
    return Wire(credentials or Credentials("key", "secret"), "eu-central-1", str(ca_file), 0.3)


@pytest.mark.parametrize("token", [None, "a/session+token=="])
def test_a_request_is_signed_as_botocore_signs_it(token):
    """AWS refuses a signature that is any other; a role's session token is signed, too."""
    credentials, asked = Credentials("key", "secret/+=", token), []

    def check(handler, body):
        asked.append(body)
        authorization = handler.headers["Authorization"]
        named = authorization.split("SignedHeaders=")[1].split(",")[0].split(";")
        again = AWSRequest("POST", url, data=body, headers={name: handler.headers[name] for name in named})
        again.context["timestamp"] = handler.headers["X-Amz-Date"]
        signer = SigV4Auth(credentials, "dynamodb", "eu-central-1")
        text = signer.string_to_sign(again, signer.canonical_request(again))
        assert authorization.endswith("Signature=" + signer.signature(text, again)), authorization
        assert {"host", "x-amz-date", "x-amz-target"} <= {*named}
        assert (handler.headers["X-Amz-Security-Token"], "x-amz-security-token" in named) == (token, token is not None)
        return b"{}"

    with answering(check) as (url, _):
        for body in (ASKED.body, '{"TableName": "\u00e9\U0001f600"}'.encode(), b""):
            assert wire(credentials).send(Request(url, ASKED.target, body), 2).content == b"{}"
    assert len(asked) == 3


def test_calls_one_after_the_other_share_a_connection():
    """Another one is opened for each call that runs beside them."""
    with answering(lambda *_: b"{}") as (url, connections):
        it = wire()
        for _ in range(5):
            it.send(ASKED._replace(url=url), 2)
        assert len(connections) == 1


def test_an_endpoint_is_trusted_that_the_authority_has_certified(tmp_path):
    """And no other."""
    ours, others = Authority(tmp_path / "ours"), Authority(tmp_path / "others")
    with answering(lambda *_: b"{}", ours.certify("store")) as (url, _):
        request = ASKED._replace(url=url)
        assert wire(ca_file=ours.file).send(request, 5).status_code == 200
        with pytest.raises(SSLError):
            wire(ca_file=others.file).send(request, 5)


def test_what_kept_an_answer_away_is_named_as_botocore_names_it():
    """So that the same is tried again, and the same is told."""
    with silent_store() as port, pytest.raises(ReadTimeoutError):
        wire().send(ASKED._replace(url=f"http://127.0.0.1:{port}"), 0.2)
    with pytest.raises(EndpointConnectionError):
        wire().send(ASKED._replace(url="http://127.0.0.1:1"), 2)
    with no_room() as port, pytest.raises(ConnectTimeoutError):
        wire().send(ASKED._replace(url=f"http://127.0.0.1:{port}"), 2)
    with answering(lambda *_: None) as (url, _), pytest.raises(ConnectionClosedError):
        wire().send(ASKED._replace(url=url), 2)
    with pytest.raises(NoCredentialsError):
        Wire(None, "eu-central-1", "", 1).send(ASKED, 2)


@pytest.fixture
def scripted(monkeypatch):
    """Make a client of a server that answers as the test says."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "test")

    def make(url, **more):
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", url)
        return dynamo.client(**more)

    return make


def test_a_transaction_has_a_token_that_makes_it_safe_to_repeat(scripted):
    """The same in each try of one call."""
    bodies = []

    def lose_the_first(_, body):
        bodies.append(json.loads(body))
        return b"{}" if len(bodies) > 1 else None

    with answering(lose_the_first) as (url, _):
        scripted(url, attempts=2).transact_write_items(TransactItems=[])
    first, second = bodies
    assert first["ClientRequestToken"] == second["ClientRequestToken"] != ""


def test_nothing_is_tried_more_often_than_the_client_may(scripted):
    """Botocore decides, as for its own calls."""
    tries = []
    with answering(lambda *_: tries.append(1)) as (url, _), pytest.raises(ConnectionClosedError):
        scripted(url, attempts=3).get_item(TableName="t", Key={})
    assert len(tries) == 3


def test_dynamodb_is_told_who_asks(scripted):
    """As AWS' logs show it."""
    seen = []
    with answering(lambda handler, _: seen.append(handler.headers["User-Agent"]) or b"{}") as (url, _):
        scripted(url).get_item(TableName="t", Key={})
    assert seen == ["murmuration"]


def edge(follower, **more):
    return {"followee_id": {"S": "calls-test"}, "follower_id": {"S": follower}, **more}


def on(**more):
    return {"TableName": TABLE, **more}


TIME = {"followed_at": {"N": "7"}}
MINE = {
    "KeyConditionExpression": "followee_id = :me",
    "ExpressionAttributeValues": {":me": {"S": "calls-test"}},
}
SEVENTH = {"ExpressionAttributeValues": {":t": {"N": "7"}}}
THERE = "attribute_exists(followee_id)"
ABSENT = "attribute_not_exists(followee_id)"
CALLS = [
    ("put_item", on(Item=edge("a", **TIME), ReturnValues="ALL_OLD")),
    ("put_item", on(Item=edge("b", **TIME), ReturnValues="ALL_OLD")),
    ("put_item", on(Item=edge("a"), ConditionExpression=ABSENT, ReturnValuesOnConditionCheckFailure="ALL_OLD")),
    ("get_item", on(Key=edge("a"), ConsistentRead=True)),
    ("get_item", on(Key=edge("nobody"))),
    ("update_item", on(Key=edge("a"), UpdateExpression="SET followed_at = :t", ReturnValues="ALL_NEW", **SEVENTH)),
    ("update_item", on(Key=edge("x"), UpdateExpression="SET followed_at = :t", ConditionExpression=THERE, **SEVENTH)),
    ("query", on(ScanIndexForward=False, Limit=1, **MINE)),
    ("scan", on(FilterExpression="followee_id = :me", ExpressionAttributeValues=MINE["ExpressionAttributeValues"])),
    ("batch_get_item", {"RequestItems": {TABLE: {"Keys": [edge("b"), edge("nobody")], "ConsistentRead": True}}}),
    ("batch_write_item", {"RequestItems": {TABLE: [{"PutRequest": {"Item": edge("c", **TIME)}}]}}),
    ("transact_write_items", {"TransactItems": [{"Put": on(Item=edge("d"))}, {"Delete": on(Key=edge("c"))}]}),
    (
        "transact_write_items",
        {
            "TransactItems": [
                {"Put": on(Item=edge("e"))},
                {"ConditionCheck": on(Key=edge("c"), ConditionExpression=THERE)},
            ]
        },
    ),
    ("delete_item", on(Key=edge("a"), ReturnValues="ALL_OLD")),
    ("query", on(KeyConditionExpression="what is this")),
    ("query", {"TableName": "no-such-table", **MINE}),
    ("list_tables", {"Limit": 1}),
]


@pytest.mark.stack
def test_each_call_answers_as_botocores_own_does():
    """The same story told twice, with answers and refusals; only botocore's notes on the HTTP differ."""
    ours, theirs = dynamo.client(), boto3.client("dynamodb", config=Config(retries={"total_max_attempts": 1}))

    def told(client):
        for follower in "abcde":
            client.delete_item(TableName=TABLE, Key=edge(follower))
        return [answered(client, operation, request) for operation, request in CALLS]

    try:
        said = told(ours)
        assert said == told(theirs)
        assert sum(isinstance(each, str) for each, _ in said) == 5
    finally:
        told(theirs)
        for follower in "abcde":
            theirs.delete_item(TableName=TABLE, Key=edge(follower))


def answered(client, operation, request):
    """Return what came, or the name of the error and what it says."""
    try:
        answer, kind = getattr(client, operation)(**request), None
    except ClientError as error:
        answer, kind = error.response, type(error).__name__
        answer.pop("message", None)
        answer.pop("Message", None)
        answer["Status"] = answer["ResponseMetadata"]["HTTPStatusCode"]
    answer.pop("ResponseMetadata")
    return kind or operation == "list_tables", answer


def test_all_calls_of_rows_go_the_short_way():
    """Those of tables do not: they are few, and say more than rows."""
    known = {*boto3.client("dynamodb", "eu-central-1").meta.service_model.operation_names, "GetRecords"}
    assert known >= SHORT
    assert not SHORT & {"DescribeTable", "CreateTable", "UpdateTable", "ListTables"}
