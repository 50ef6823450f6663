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


def rate(there_and_back: Callable[[], object]) -> float:
    """Round trips a second over one round."""
    started = time.perf_counter()
    for _ in range(EVENTS_A_ROUND):
        there_and_back()
    return EVENTS_A_ROUND / (time.perf_counter() - started)


def encode_and_decode() -> dict[str, Any]:
    """Dataclass to bytes to dataclass, against dict to bytes to dict."""
    topic = TOPICS["FollowChanged"]
    example = examples(topic)[0]
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
    rounds = [(rate(checked), rate(bare)) for _ in range(ROUNDS)]
    figure, reference = (statistics.median(column) for column in zip(*rounds, strict=True))
    return {
        "name": "codec: encode and decode of FollowChanged",
        "ours": figure,
        "reference": reference,
        "unit": "events/s",
        "ratio": statistics.median(mine / theirs for mine, theirs in rounds),
        "target": 0.8,
        "setup": f"one process, one event of {len(example.value)} bytes; bare fastavro on plain dicts with the same "
        f"schema; {ROUNDS} rounds of {EVENTS_A_ROUND:,}, ours and theirs in turn, medians",
    }


STACK = ""
BENCHMARKS = [encode_and_decode]
