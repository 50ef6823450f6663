"""A handler is written as if stores were always there."""

import logging
from types import SimpleNamespace

import pytest

from contracts import TOPICS
from contracts.examples import codec, examples
from murmuration_runtime.errors import StoreAwayError
from murmuration_worker.handler import Handler
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Message
from murmuration_worker.progress import Progress, Sight

TOPIC = TOPICS["FollowChanged"]
EXAMPLE = examples(TOPIC)[0]


@pytest.fixture
def worker():
    """A handler that fails as it is told, and what was seen of it."""
    seen = SimpleNamespace(batches=[], errors=[], letters=[], progress=Progress())

    def handle(batch):
        seen.batches.append(batch)
        if seen.errors:
            raise seen.errors.pop(0)

    inbox = Inbox(TOPIC, codec(TOPIC), lambda *letter: seen.letters.append(letter))
    seen.attempt = Handler(handle, "id", inbox, seen.progress).attempt
    return seen


def message(offset):
    return Message(TOPIC.name, 3, offset, b"key", EXAMPLE.value, [])


def test_a_batch_whose_store_is_away_is_not_done_and_is_tried_again(worker, caplog):
    """It is the same one, and read once; each try is a heartbeat and a line that names the event."""
    worker.errors = [StoreAwayError("away"), StoreAwayError("still away")]
    with caplog.at_level(logging.WARNING):
        attempt = worker.attempt([message(7), message(8)._replace(value=b"poison"), message(9)])
        assert [attempt(), attempt(), attempt()] == [False, False, True]
    first, second, third = worker.batches
    assert first is second is third
    assert [arrival.offset for arrival in first.arrivals] == [7, 8, 9]
    assert len(worker.letters) == 1
    assert worker.progress.sights() == {(TOPIC.name, 3): Sight(None, 3)}
    told = [(line.event_id, line.offset, line.reason) for line in caplog.records if line.message == "retrying"]
    assert told == [(EXAMPLE.event.event_id, 7, reason) for reason in ("away", "still away")]


def test_any_other_exception_comes_out(worker):
    """It ends the process, which reads the batch again."""
    worker.errors = [ValueError("a mistake")]
    with pytest.raises(ValueError, match="a mistake"):
        worker.attempt([message(7)])()


CARRIED = [f"00-{digit * 32}-{digit * 16}-01".encode() for digit in "ab"]


def traced(offset, context):
    return message(offset)._replace(headers=[("event_id", b"e"), *([("traceparent", context)] if context else [])])


@pytest.mark.parametrize(
    ("contexts", "parent", "links"),
    [
        ([CARRIED[0]], "a", ""),
        ([CARRIED[0], None], "a", ""),
        ([*CARRIED, None], None, "ab"),
        ([None], None, ""),
    ],
)
def test_a_try_is_a_span_in_the_trace_that_it_carries(worker, spans, contexts, parent, links):
    """Of several it is linked with each; a removal carries none, and is found by its event_id."""
    worker.attempt([traced(7 + n, context) for n, context in enumerate(contexts)])()
    (span,) = spans()
    assert span.name == f"handle {TOPIC.name}"
    assert span.attributes["event_id"] == ("e",) * len(contexts)
    assert (span.parent and f"{span.parent.trace_id:032x}") == (parent and parent * 32)
    assert [f"{link.context.trace_id:032x}" for link in span.links] == [each * 32 for each in links]
