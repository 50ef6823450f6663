"""For tests of services: the contract's examples, as a handler gets them."""

from collections.abc import Iterator
from typing import Any

from contracts import Topic
from contracts.examples import Example, codec, examples
from murmuration_worker.inbox import Inbox
from murmuration_worker.messages import Batch, Message

PARTITION = 3


def example_batches(topic: Topic) -> Iterator[tuple[Example, Batch[Any]]]:
    """Give every example of every version, each as the only event of a batch; none may become a dead letter."""
    for offset, example in enumerate(examples(topic)):
        message = Message(topic.name, PARTITION, offset, b"key", example.value, [])
        yield example, Batch(topic.name, "topic-1", PARTITION, [*Inbox(topic, codec(topic), _refuse).read([message])])


def _refuse(topic: Topic, _: Message, reason: str) -> None:
    raise AssertionError(f"an example of {topic.name} became a dead letter: {reason}")
