"""What the codec costs beside bare fastavro: the same schema, a plain dict, no header, nothing checked."""

import json
import statistics
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer

from contracts import TOPICS
from contracts.examples import codec, examples

ROUNDS = 60
EVENTS_A_ROUND = 2_000


def rate(once: Callable[[], object]) -> float:
    """How many a second over one round."""
    started = time.perf_counter()
    for _ in range(EVENTS_A_ROUND):
        once()
    return EVENTS_A_ROUND / (time.perf_counter() - started)


def encode_and_decode() -> dict[str, Any]:
    """Dataclass to bytes to dataclass, against dict to bytes to dict."""
    topic = TOPICS["FollowChanged"]
    example = next(each for each in examples(topic) if each.version == topic.latest.number)
    ours = codec(topic)
    schema = parse_schema(json.loads(topic.latest.schema))

    def checked() -> object:
        return ours.decode(ours.encode(example.event))

    def bare() -> object:
        out = BytesIO()
        schemaless_writer(out, schema, example.record)
        return schemaless_reader(BytesIO(out.getvalue()), schema)

    assert checked() == example.event
    assert bare() == example.record
    return compared("codec: encode and decode of FollowChanged", checked, bare, 0.85, len(example.value))


def decode_an_older_version() -> dict[str, Any]:
    """Read version 1 as the dataclass of the latest, against the bytes of the latest to a dict."""
    topic = TOPICS["FollowChanged"]
    older, latest = (next(each for each in examples(topic) if each.version == n) for n in (1, topic.latest.number))
    ours, schema, body = codec(topic), parse_schema(json.loads(topic.latest.schema)), latest.value[5:]

    def checked() -> object:
        return ours.decode(older.value)

    def bare() -> object:
        return schemaless_reader(BytesIO(body), schema)

    assert checked() == older.event
    assert bare() == latest.record
    return compared("codec: decode of FollowChanged 1 to the latest", checked, bare, 0.7, len(older.value))


def compared(
    name: str, ours: Callable[[], object], bare: Callable[[], object], target: float, size: int
) -> dict[str, Any]:
    """Measure both in turn."""
    rounds = [(rate(ours), rate(bare)) for _ in range(ROUNDS)]
    figure, reference = (statistics.median(column) for column in zip(*rounds, strict=True))
    return {
        "name": name,
        "ours": figure,
        "reference": reference,
        "unit": "events/s",
        "ratio": statistics.median(mine / theirs for mine, theirs in rounds),
        "target": target,
        "setup": f"one process, one event of {size} bytes; bare fastavro on plain dicts with the latest schema; "
        f"{ROUNDS} rounds of {EVENTS_A_ROUND:,}, ours and theirs in turn, medians",
    }


STACK = ""
BENCHMARKS = [encode_and_decode, decode_an_older_version]
