"""One trace through all processes: the request, its row, the bridge's publishing, a worker's handling; and no row else.

A stack is brought up with traces on, which go to a receiver of OTLP over HTTP here. Then somebody follows somebody,
tweets and deletes the tweet, each under a traceparent of their own; an unfollow carries none behind its request.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person
from murmuration_testkit.waiting import eventually

STACK = ""
WITHIN_S = 60.0
FOLLOWED = {
    ("follow-service", "POST /v1/users/<user_id>/follow"),
    ("cdc-bridge", "publish FollowChanged"),
    ("count-aggregator", "handle FollowChanged"),
    ("fanout-worker", "handle FollowChanged"),
}
TWEETED = {
    ("tweet-service", "POST /v1/tweets"),
    ("cdc-bridge", "publish TweetCreated"),
    ("fanout-worker", "handle TweetCreated"),
}
DELETED = {
    ("tweet-service", "DELETE /v1/tweets/<tweet_id>"),
    ("cdc-bridge", "publish TweetDeleted"),
    ("fanout-worker", "handle TweetDeleted"),
}
UNFOLLOWED = {("follow-service", "DELETE /v1/users/<user_id>/follow")}


class Span(NamedTuple):
    """What is compared of a span."""

    service: str
    name: str
    trace_id: str
    event_ids: tuple[str, ...]


def one_trace_a_request() -> dict[str, Any]:
    """Bring the stack up with traces on, and compare."""
    stack = [sys.executable, str(REPOSITORY / "deploy/local/stack.py"), "run", "--name", "traces", "--"]
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, receiver(Path(directory) / "spans") as url:
        told = [sys.executable, __file__, directory]
        code = subprocess.call([*stack, *told], env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": url})
        report = Path(directory) / "report.json"
        differences = json.loads(report.read_text()) if report.exists() else ["no report"]
        spans = len(spans_in(Path(directory) / "spans"))
    return {
        "name": "one trace from the request to the workers",
        "faults": "none",
        "compared": "the spans of each trace id with the processes that its event passes",
        "differences": [*differences, *([f"the stack's command ended with {code}"] if code else [])],
        "counts": f"{spans} spans",
    }


@contextmanager
def receiver(folder: Path) -> Iterator[str]:
    """Keep what is exported, a file each; return the address."""
    folder.mkdir()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def spans_in(folder: Path) -> list[Span]:
    """Return all that came."""
    found = []
    for file in folder.iterdir():
        for each in ExportTraceServiceRequest.FromString(file.read_bytes()).resource_spans:
            (service,) = (it.value.string_value for it in each.resource.attributes if it.key == "service.name")
            for span in (it for scope in each.scope_spans for it in scope.spans):
                event = next((it.value for it in span.attributes if it.key == "event_id"), None)
                many = [it.string_value for it in event.array_value.values] if event else []
                ids = tuple(many or ([event.string_value] if event else []))
                found.append(Span(service, span.name, span.trace_id.hex(), ids))
    return found


def told(folder: Path) -> list[str]:
    """Do each thing under a trace of its own; say whose spans are not those that they should be."""
    alice, bob = Person("Alice").join(), Person("Bob").join()
    traces = {name: os.urandom(16).hex() for name in ("follow", "tweet", "delete", "unfollow")}

    @contextmanager
    def under(name: str, person: Person) -> Iterator[None]:
        person.headers["traceparent"] = f"00-{traces[name]}-{'1' * 16}-01"
        yield
        del person.headers["traceparent"]

    with under("follow", alice):
        alice.follow(bob)
    with under("tweet", bob):
        tweet = bob.tweet("hello")
    eventually(alice.timeline, ["hello"], within=WITHIN_S)
    with under("delete", bob):
        bob.delete(tweet)
    with under("unfollow", alice):
        alice.unfollow(bob)
    wanted = {"follow": FOLLOWED, "tweet": TWEETED, "delete": DELETED, "unfollow": UNFOLLOWED}

    def faults() -> list[str]:
        spans, faults = spans_in(folder), []
        for name, services in wanted.items():
            found = [it for it in spans if it.trace_id == traces[name]]
            if {(it.service, it.name) for it in found} != services:
                faults.append(f"{name}: {sorted({(it.service, it.name) for it in found})}, not {sorted(services)}")
            events = {it.event_ids for it in found if it.event_ids}
            if name != "unfollow" and len(events) != 1:
                faults.append(f"{name}: its spans name the events {sorted(events)}")
        followed = next((it.event_ids for it in spans if it.trace_id == traces["follow"] and it.event_ids), ())
        by_event: dict[str, set[str]] = {}
        for span in spans:
            for event_id in span.event_ids:
                by_event.setdefault(event_id, set()).add(span.service)
        unfollow = [services for event_id, services in by_event.items() if event_id not in followed]
        if {"cdc-bridge", "count-aggregator", "fanout-worker"} not in unfollow:
            faults.append("unfollow: no event_id joins the spans of the bridge and of both workers")
        return faults

    try:
        eventually(faults, [], within=WITHIN_S, every=1)
    except AssertionError:
        return faults()
    return []


PROOFS = [one_trace_a_request]

if __name__ == "__main__":
    directory = Path(sys.argv[1])
    (directory / "report.json").write_text(json.dumps(told(directory / "spans")))
