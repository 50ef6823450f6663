"""For the tests of whoever consumes or produces a topic, in any repository: a contract test is one call.

It needs nothing but this package: no broker, no registry, no pytest.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from contracts.errors import ContractError
from contracts.events import Event
from contracts.examples import Example, LastExample, codec, examples, last_example, written
from contracts.topic import TOPICS, Topic


def examples_of(topic: str) -> list[Example | LastExample]:
    """Return each example of each version of a topic, oldest version first; then the tombstones of a compacted one."""
    contract = _topic(topic)
    shown = examples(contract)
    return [*shown, *(last_example(contract, each) for each in shown if contract.is_compacted)]


def assert_accepts_all(
    handler: Callable[[Any], object], topic: str, *, given: Literal["event", "record", "value"] = "event"
) -> int:
    """Hand each example of each version to a consumer's handler, and fail with all that it refused; return how many.

    `event` is an object of the latest version, `record` a dict as its own version has it, `value` the bytes of Kafka in
    Confluent's wire format, with the number of the version for the schema's id. Of a compacted topic there are also
    tombstones: the `event` is a Tombstone, `record` and `value` are None.
    """
    refused = []
    shown = examples_of(topic)
    for example in shown:
        try:
            handler(getattr(example, given))
        except Exception as error:  # noqa: BLE001  whatever it raises is what the test is to say
            refused.append(f"version {example.version}, {example.name!r}: {type(error).__name__}: {error}")
    if refused:
        raise AssertionError(f"{len(refused)} of {len(shown)} examples of {topic} are refused:\n" + "\n".join(refused))
    return len(shown)


def assert_produces(topic: str, events: Iterable[Event | Mapping[str, Any]]) -> int:
    """Hold what a producer would send, in its order, to the contract; fail with all that breaks it, return how many.

    Each is an event, or a record as a dict, that the latest version can say; and in each partition the sequence numbers
    of a shard only repeat or grow, because consumers keep nothing but the last.
    """
    contract = _topic(topic)
    seen: dict[tuple[int, str], list[int]] = {}
    broken, number = [], 0
    for number, each in enumerate(events, 1):
        try:
            event = _read(contract, each)
            key = contract.key(event)
        except ContractError as error:
            broken.append(f"event {number}: {error}")
            continue
        numbers = seen.setdefault((contract.partition(key), event.source.shard_id), [])
        sequence = event.source.sequence_number
        if numbers and sequence < max(numbers) and sequence not in numbers:
            broken.append(
                f"event {number}: sequence number {sequence} of {event.source.shard_id} comes after {max(numbers)}"
            )
        numbers.append(sequence)
    if broken:
        raise AssertionError(f"{len(broken)} of {number} events break the contract of {topic}:\n" + "\n".join(broken))
    if not number:
        raise AssertionError(f"there is no event of {topic} to look at")
    return number


def _read(topic: Topic, sent: Event | Mapping[str, Any]) -> Event:
    """Return what a consumer would read."""
    both = codec(topic)
    if isinstance(sent, Mapping):
        return both.decode(written(topic.latest, sent, topic.name))
    return both.decode(both.encode(sent))


def _topic(name: str) -> Topic:
    if name not in TOPICS:
        raise ContractError(f"there is no topic {name}: there are {', '.join(TOPICS)}")
    return TOPICS[name]
