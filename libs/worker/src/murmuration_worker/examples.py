"""For tests of services: the contract's examples, as a handler gets them."""

from collections.abc import Iterator
from typing import Any

from contracts import Topic
from contracts.examples import Example, LastExample, codec, examples, last_example
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Batch, Message

PARTITION = 3


def example_batches(topic: Topic) -> Iterator[tuple[Example | LastExample, Batch[Any]]]:
    """Give every example of every version, each as the only event of a batch; none may become a dead letter.

    Of a compacted topic each is followed by the tombstone of its key.
    """
    for offset, example in enumerate(examples(topic)):
        key, headers = topic.key(example.event).encode(), topic.headers(example.event)
        for each in (example, last_example(topic, example)) if topic.is_compacted else (example,):
            message = Message(topic.name, PARTITION, offset, key, each.value, [*headers])
            arrivals = [*Inbox(topic, codec(topic), _refuse).read([message])]
            yield each, Batch(topic.name, "topic-1", PARTITION, arrivals)


def _refuse(topic: Topic, _: Message, reason: str) -> None:
    raise AssertionError(f"an example of {topic.name} became a dead letter: {reason}")
