"""tweet-service killed at the worst moments of a post that has an Idempotency-Key: a retry finds what is right."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import urllib3

from murmuration_testkit.people import Person
from murmuration_testkit.ports import free_port
from murmuration_testkit.waiting import eventually

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_between_the_claim_and_the_answer_leaves_one_tweet(moment):
    """The claim is written; the tweet's own row not yet, or already. The retry gives the tweet that was claimed."""
    alice = Person("Alice").join()
    post = {"headers": {"Idempotency-Key": "once"}, "json": {"text": "said once"}}
    with held_back(moment) as (address, held), tweet_service(address) as (url, process):
        headers = alice.headers | post["headers"]
        asking = threading.Thread(target=_ask, args=(f"{url}/v1/tweets", headers, post["json"]), daemon=True)
        asking.start()
        claimed = held.get()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert len(alice.said()) == (moment == "after")
    answers = [alice.ask("POST", "/v1/tweets", **post)["tweet_id"] for _ in range(2)]
    assert answers == [claimed, claimed]
    assert alice.said() == {claimed: "said once"}


class Held:
    """The id of the tweet whose row was held back."""

    def __init__(self):
        self._known, self._id = threading.Event(), ""

    def put(self, tweet_id):
        self._id = tweet_id
        self._known.set()

    def get(self):
        assert self._known.wait(20), "no tweet's row was written"
        return self._id


@contextmanager
def held_back(moment):
    """Stand before DynamoDB: all goes through but the row of a tweet, or the answer to it."""
    held, over, through = Held(), threading.Event(), urllib3.PoolManager(maxsize=32, retries=False)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = json.loads(body)
            the_one = self.headers["X-Amz-Target"].endswith(".PutItem") and asked["TableName"] == "tweets"
            if the_one and moment == "before":
                held.put(asked["Item"]["tweet_id"]["S"])
                over.wait()
                return
            answer = through.request(
                "POST", os.environ["AWS_ENDPOINT_URL_DYNAMODB"], body=body, headers=dict(self.headers)
            )
            if the_one:
                held.put(asked["Item"]["tweet_id"]["S"])
                over.wait()
                return
            self.send_response(answer.status)
            for name in ("Content-Type", "x-amz-crc32", "x-amzn-RequestId"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(answer.data)))
            self.end_headers()
            self.wfile.write(answer.data)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", held
        finally:
            over.set()
            server.shutdown()


@contextmanager
def tweet_service(dynamodb):
    """Run one more tweet-service, on this DynamoDB."""
    port, admin_port = free_port(), free_port()
    command = [str(Path(sys.executable).with_name("gunicorn")), "-c", "python:murmuration_edge.gunicorn"]
    ports = {"PORT": str(port), "ADMIN_PORT": str(admin_port)}
    environment = {**os.environ, **ports, "AWS_ENDPOINT_URL_DYNAMODB": dynamodb}
    with subprocess.Popen(
        [*command, "tweet_service.app:create_app()"], cwd=REPOSITORY, env=environment, start_new_session=True
    ) as process:
        try:
            eventually(lambda: _ask(f"http://127.0.0.1:{admin_port}/readyz"), 200)
            yield f"http://127.0.0.1:{port}", process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _ask(url, headers=None, body=None):
    """Return the status; None if nobody answers."""
    with suppress(urllib3.exceptions.HTTPError):
        method = "POST" if body else "GET"
        return urllib3.request(method, url, headers=headers, json=body, timeout=15, retries=False).status
    return None
