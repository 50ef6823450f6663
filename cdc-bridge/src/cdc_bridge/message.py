"""What goes to Kafka for one stream record: its events, a dead letter, or nothing. Pure: no clock, no I/O.

Rule: each event gives exactly one message, in the order that translate.py gives, and a record that cannot be translated
one dead letter in its place; so the order of records is kept. What is too large for its topic is never sent: an event
becomes a dead letter, and a dead letter loses the end of its record.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from cdc_bridge.account_states import Gone
from cdc_bridge.lineage import ShardKey
from cdc_bridge.translate import Record, UntranslatableError, traceparent, translate
from contracts import TOPICS, Codec, ContractError, Event, Topic

_BY_NAME = {topic.name: topic for topic in TOPICS.values()}  # a topic that grew has another name in Kafka
TRACEPARENT = "traceparent"  # the header by which a worker finds the trace of the request
TRUNCATED = "truncated"  # the header that says how much of a record a dead letter has
_OVERHEAD = 100  # bytes of a batch of one message, and of the message, beside what it holds
_HEADER_OVERHEAD = 10
_NOTE = 60  # bytes of a header that says what was cut off, at most
_LONGEST_REASON = 1000


class Message(NamedTuple):
    """One record for Kafka, its partition already decided."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None  # None says that the key is gone
    headers: Sequence[tuple[str, bytes]]
    occurred_at: int | None = None
    refusal: str | None = None  # why it is a dead letter; None for an event

    @property
    def size(self) -> int:
        """How many bytes it takes in Kafka, uncompressed and alone; at most a few too many."""
        headers = sum(map(len, chain.from_iterable(self.headers))) + _HEADER_OVERHEAD * len(self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers + _OVERHEAD


def messages_for(shard: ShardKey, record: Record, codecs: Mapping[str, Codec]) -> list[Message]:
    """Make the messages that this record asks for; what cannot be translated or encoded becomes a dead letter."""
    try:
        translated = translate(shard.table, shard.shard_id, record)
    except UntranslatableError as error:
        return [_dead_letter(error.topic, error.reason, shard, record)]
    if translated is None:
        return []
    topic, told = translated
    trace = traceparent(shard.table, record)
    more = [(TRACEPARENT, trace.encode())] if trace else []
    made = []
    for each in told:
        try:
            message = message_of(topic, each, codecs[topic.name], more)
        except ContractError as error:
            message = _dead_letter(topic, str(error), shard, record)
        if message.size > topic.max_message_bytes:
            reason = f"the event is too large: {message.size} bytes, and {topic.name} takes {topic.max_message_bytes}"
            message = _dead_letter(topic, reason, shard, record)
        made.append(message)
    return made


def message_of(
    topic: Topic, told: Event | Gone, codec: Codec, more_headers: Sequence[tuple[str, bytes]] = ()
) -> Message:
    """Make the message of an event, or of the end of a key: one without a value; raise ContractError if it is none."""
    event, value = (told.last, None) if isinstance(told, Gone) else (told, codec.encode(told))
    key = topic.key(event)
    return Message(
        topic=topic.name,
        partition=topic.partition(key),
        key=key.encode(),
        value=value,
        headers=[*topic.headers(event), *more_headers],
        occurred_at=event.occurred_at if value else None,
    )


def instead_of(refused: Message, shard: ShardKey, record: Record, reason: str) -> Message:
    """Make a dead letter of an event that Kafka refuses; of a dead letter that it refuses, one without its record."""
    if refused.refusal is None:
        return _dead_letter(_BY_NAME[refused.topic], reason, shard, record)
    return _cut(refused, 0)


def _dead_letter(topic: Topic, reason: str, shard: ShardKey, record: Record) -> Message:
    """Keep the whole record if it fits; headers say why it is a dead letter, where it was read, and whose row it is."""
    reason = reason[:_LONGEST_REASON]  # it may quote what is wrong
    change = record["dynamodb"]
    headers = {
        "event_id": record["eventID"],
        "shard_id": shard.shard_id,
        "sequence_number": change["SequenceNumber"],
        **{name: value["S"] for name, value in change["Keys"].items() if "S" in value},
        "table": shard.table,
        "stream_arn": shard.stream_arn,
        "reason": reason,
    }
    whole = json.dumps(record, ensure_ascii=False).encode()
    letter = Message(
        topic=topic.dlq,
        partition=0,
        key=None,
        value=whole,
        headers=[(name, value.encode()) for name, value in headers.items()],
        refusal=reason,
    )
    surplus = letter.size - topic.max_message_bytes  # its dead letters' too
    return letter if surplus <= 0 else _cut(letter, len(whole) - surplus - _NOTE)


def _cut(letter: Message, length: int) -> Message:
    """Keep the record's first bytes, and say so in a header."""
    whole = letter.value or b""
    note = f"{length} of {len(whole)} bytes"
    return letter._replace(value=whole[:length], headers=[*letter.headers, (TRUNCATED, note.encode())])
