"""A DynamoDB that hangs, and one that answers whatever it likes."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from murmuration_runtime import deadlines, dynamo
from murmuration_runtime.deadlines import DeadlineError
from murmuration_runtime.dynamo_gate import TRIES, DynamoGate
from murmuration_runtime.dynamo_wire import Request
from murmuration_runtime.errors import StoreAwayError
from murmuration_runtime.store_gate import PLACES
from murmuration_testkit.silent_store import silent_store
from murmuration_testkit.waiting import eventually

SLACK_S = 0.3  # for a busy machine
NO = (400, b'{"__type": "x#ConditionalCheckFailedException"}')
NOTHING = Request("", "", b"{}")
BUSY = (400, b'{"__type": "x#ThrottlingException"}')


@contextmanager
def server(answer):
    """Answer every request with a status and a body, or hang while there is none."""
    over = threading.Event()

    class Store(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            while answer[0] is None and not over.wait(0.02):
                pass
            status, body = answer[0] or (500, b"{}")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.do_POST()

        def log_message(self, *_):
            pass

        def handle(self):
            with suppress(OSError):  # of a client that gave up
                super().handle()

    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as it:
        it.daemon_threads = True
        it.block_on_close = False
        threading.Thread(target=it.serve_forever, daemon=True).start()
        try:
            yield it.server_port
        finally:
            over.set()
            it.shutdown()


@pytest.fixture
def client(monkeypatch):
    """Make the client of a service, for a port."""

    def make(port):
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
            monkeypatch.setenv(name, "test")
        return dynamo.client_for_requests()

    return make


def ask(client, seconds):
    """Return how long it took until the store was named as away."""
    began = time.monotonic()
    with pytest.raises(StoreAwayError), deadlines.within(seconds), dynamo.errors_named():
        client.get_item(TableName="users", Key={"user_id": {"S": "x"}})
    return time.monotonic() - began


@pytest.mark.parametrize("seconds", [0.1, 0.7, 1.5])
def test_a_request_has_its_deadline_whatever_hangs(client, seconds):
    """Over all tries together."""
    with silent_store() as port:
        assert ask(client(port), seconds) < seconds + SLACK_S


def test_a_dynamodb_that_hangs_is_given_up_and_noticed_again(client):
    """After some calls each next one fails at once; when it answers, a probe sees it within two seconds."""
    answer = [None]
    with server(answer) as port:
        it = client(port)
        for _ in range(TRIES):
            ask(it, 0.6)
        assert ask(it, 0.6) < SLACK_S
        answer[0] = (200, b"{}")

        def answered():
            try:
                with deadlines.within(1), dynamo.errors_named():
                    return it.get_item(TableName="users", Key={"user_id": {"S": "x"}}) is not None
            except StoreAwayError:
                return None

        eventually(answered, within=2)


def test_an_answer_that_says_no_is_an_answer(client):
    """Whatever it says: a store that refuses is there."""
    with server([NO]) as port:
        it = client(port)
        for _ in range(2 * TRIES):
            with pytest.raises(it.exceptions.ConditionalCheckFailedException):
                it.get_item(TableName="users", Key={"user_id": {"S": "x"}})


def test_a_throttled_request_is_not_tried_again_when_there_is_no_time_for_it(client):
    """The client may pause for a second before each next try."""
    with server([BUSY]) as port:
        assert ask(client(port), 0.5) < SLACK_S


def test_a_refused_connection_is_tried_again(client):
    """One of DynamoDB's addresses may be going away while the others serve."""
    it, tries = client(1), []
    it.meta.events.register("before-send.dynamodb", lambda **_: tries.append(1))
    with deadlines.within(30), pytest.raises(StoreAwayError), dynamo.errors_named():
        it.get_item(TableName="users", Key={"user_id": {"S": "x"}})
    assert len(tries) == 2


class Held:
    """What sends, and answers nobody until it is told to; it knows for how long each may read."""

    def __init__(self):
        self.go_on, self.sent = threading.Event(), queue.SimpleQueue()

    def send(self, _, seconds):
        self.sent.put(seconds)
        assert self.go_on.wait(30)


def test_who_waited_for_a_place_reads_for_no_longer_than_is_left():
    """The deadline is one for the wait and the reading together."""
    held = Held()
    gate = DynamoGate(held.send, "", patience=1.0)
    with ThreadPoolExecutor(PLACES) as threads:
        for _ in range(PLACES):
            threads.submit(gate.send, NOTHING)
        for _ in range(PLACES):
            held.sent.get(timeout=30)
        with deadlines.within(0.9):
            threading.Timer(0.05, held.go_on.set).start()
            gate.send(NOTHING)
        assert held.sent.get() <= 0.85


def test_a_deadline_that_is_over_asks_nobody_and_blames_nobody():
    """The place is left as it was."""
    held = Held()
    gate = DynamoGate(held.send, "", patience=1.0)
    for _ in range(2 * PLACES):
        with deadlines.within(0), pytest.raises(DeadlineError):
            gate.send(NOTHING)
    assert held.sent.empty()
    held.go_on.set()
    gate.send(NOTHING)


def test_a_short_deadline_is_not_the_stores_fault(client):
    """It is not given up because a request had spent its time elsewhere."""
    with server([None]) as port:
        it = client(port)
        for _ in range(2 * TRIES):
            ask(it, 0.05)
        assert ask(it, 0.5) > 0.4


def test_an_answer_that_cannot_be_read_leaves_its_place(client):
    """The error comes behind the sending."""
    with server([(200, b"<html>")]) as port:
        it = client(port)
        for _ in range(2 * PLACES):
            with pytest.raises(StoreAwayError, match="no JSON"), deadlines.within(5):
                it.get_item(TableName="users", Key={"user_id": {"S": "x"}})
