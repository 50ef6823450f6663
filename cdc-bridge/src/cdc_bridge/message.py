"""What goes to Kafka for one stream record: its event, a dead letter, or nothing. Pure: no clock, no I/O.

Rule: every record that should give an event gives exactly one message, so that the order of records is kept.
"""

import base64
import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cdc_bridge.lineage import ShardKey
from cdc_bridge.translate import Record, UntranslatableError, translate
from contracts import TOPICS, Codec, ContractError, Topic

_BY_NAME = {topic.name: topic for topic in TOPICS.values()}  # a topic that grew has another name in Kafka


@dataclass(frozen=True, slots=True)
class Message:
    """One record for Kafka, its partition already decided."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes
    headers: Sequence[tuple[str, bytes]]
    occurred_at: int | None = None
    refusal: str | None = None  # why it is a dead letter; None for an event


def message_for(shard: ShardKey, record: Record, codecs: Mapping[str, Codec]) -> Message | None:
    """Make the message that this record asks for; what cannot be translated or encoded becomes a dead letter."""
    try:
        translated = translate(shard.table, shard.shard_id, record)
    except UntranslatableError as error:
        return _dead_letter(error.topic, error.reason, shard, record)
    if translated is None:
        return None
    topic, event = translated
    try:
        key = topic.key(event)
        return Message(
            topic=topic.name,
            partition=topic.partition(key),
            key=key.encode(),
            value=codecs[topic.name].encode(event),
            headers=topic.headers(event),
            occurred_at=event.occurred_at,
        )
    except ContractError as error:
        return _dead_letter(topic, str(error), shard, record)


def instead_of(refused: Message, shard: ShardKey, record: Record, reason: str) -> Message:
    """Make a dead letter of an event that Kafka refuses; of a dead letter that it refuses, one without its record."""
    if refused.refusal is None:
        return _dead_letter(_BY_NAME[refused.topic], reason, shard, record)
    return replace(refused, value=b"")


def _dead_letter(topic: Topic, reason: str, shard: ShardKey, record: Record) -> Message:
    """Keep the whole record; headers say why it is a dead letter, where it was read, and which row it changed."""
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
    return Message(
        topic=topic.dlq,
        partition=0,
        key=None,
        value=json.dumps(record, default=_as_on_the_wire, ensure_ascii=False).encode(),
        headers=[(name, value.encode()) for name, value in headers.items()],
        refusal=reason,
    )


def _as_on_the_wire(value: object) -> str | float:
    """Undo what boto3 made of the two JSON types that are not plain: binary and time."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.datetime):
        return value.timestamp()
    raise TypeError(f"a stream record cannot hold a {type(value).__name__}")
