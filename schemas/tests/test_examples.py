"""The examples, which every consumer is tested with."""

import json
from io import BytesIO

import avro.io
import avro.schema

from contracts.examples import codec, examples


def test_an_independent_reader_reads_every_example_to_equal_values(topic):
    """Apache's avro package and our codec agree on every example of every version."""
    for example in examples(topic):
        written = avro.schema.parse(topic.versions[example.version - 1].schema)
        body = BytesIO(example.value[5:])
        assert avro.io.DatumReader(written).read(avro.io.BinaryDecoder(body)) == example.record, example.name
        body.seek(0)
        latest = avro.io.DatumReader(written, avro.schema.parse(topic.latest.schema))
        record = latest.read(avro.io.BinaryDecoder(body))
        source = example.event.source
        assert record.pop("source") == {
            "shard_id": source.shard_id,
            "sequence_number": str(source.sequence_number),
        }, example.name
        assert record == {name: value for name, value in vars(example.event).items() if name != "source"}, example.name


def test_an_example_of_the_latest_version_is_written_as_it_was_read(topic):
    """So a test may also make bytes of its own from an example."""
    for example in examples(topic):
        if example.version == topic.latest.number:
            assert codec(topic).encode(example.event) == example.value


def test_the_edges_are_among_the_examples(topic):
    """Longest and short sequence numbers, other scripts, and where a moment may be missing, a missing one."""
    events = [example.event for example in examples(topic)]
    assert max(len(str(event.source.sequence_number)) for event in events) == 40  # DynamoDB's longest
    assert not str(events).isascii()
    types = {field["name"]: field["type"] for field in json.loads(topic.latest.schema)["fields"]}
    assert any(event.occurred_at is None for event in events) == ("null" in types["occurred_at"])
