"""Records of a topic as a file that any Avro library reads: it has its schema in it."""

import json
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import fastavro

from contracts.topic import Topic


def written(topic: Topic, records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the file, with the topic's latest schema."""
    body = BytesIO()
    fastavro.writer(body, json.loads(topic.latest.schema), records, codec="deflate")
    return body.getvalue()
