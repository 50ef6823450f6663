"""The codec: everything round trips, and nothing broken gets through."""

import json
from dataclasses import replace
from io import BytesIO

import avro.io
import avro.schema
import pytest
from fastavro import parse_schema, schemaless_writer
from hypothesis import given
from hypothesis import strategies as st

from contracts import TOPICS, Codec, ContractError, Source, UnknownSchemaError
from contracts.examples import codec, examples
from contracts.ids import TWEET_ID

from .small_contracts import KNOCK, KNOCKED, POSTED, RENT, RENTED, SMALL, Posted, Removed

NOTE = {"name": "note", "type": "string", "default": "", "doc": "A field of the future."}

text = st.text()
longs = st.integers(-(2**63), 2**63 - 1)
names = st.text(min_size=1)
tweet_ids = st.from_regex(TWEET_ID, fullmatch=True)
sources = st.builds(Source, names, st.integers(0, 10**40))
kinds = {"null": st.none(), "string": text, "boolean": st.booleans(), "long": longs}


def values(field):
    """Whatever the schema has room for, with ids as the codec wants them."""
    special = {"source": sources, "tweet_id": tweet_ids}
    if field["name"] in special or field["name"].endswith("_id"):
        return special.get(field["name"], names)
    if isinstance(field["type"], dict):
        return st.sampled_from(field["type"]["symbols"])
    return st.one_of(kinds[kind] for kind in (field["type"] if isinstance(field["type"], list) else [field["type"]]))


def events_of(topic):
    fields = json.loads(topic.latest.schema)["fields"]
    return st.builds(topic.event, **{field["name"]: values(field) for field in fields})


events = st.one_of(events_of(topic) for topic in TOPICS.values())  # ours, whatever fields they have


def test_the_wire_format_is_a_zero_the_id_and_avro():
    """The bytes, spelled out: any Confluent client reads them."""
    encode = Codec(KNOCKED, {1: 258}, pytest.fail).encode
    assert encode(KNOCK) == b"\0\0\0\1\2\2e\2s\0027\6bob\nalice\1\2\2"


@given(events)
def test_what_is_encoded_is_decoded(event):
    """Any event comes back equal, and of the same types."""
    both = codec(TOPICS[type(event).__name__])
    back = both.decode(both.encode(event))
    assert back == event
    assert repr(back) == repr(event)


@given(events)
def test_an_independent_reader_reads_what_is_encoded(event):
    """Apache's avro package finds every field where the schema says, the source nested in it."""
    topic = TOPICS[type(event).__name__]
    body = BytesIO(codec(topic).encode(event)[5:])
    record = avro.io.DatumReader(avro.schema.parse(topic.latest.schema)).read(avro.io.BinaryDecoder(body))
    source = {"shard_id": event.source.shard_id, "sequence_number": str(event.source.sequence_number)}
    assert record == vars(event) | {"source": source}
    assert body.read() == b""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"event_id": None}, "must be string on field event_id"),
        ({"visitor_id": None}, "must be string on field visitor_id"),
        ({"house_id": 5}, "must be string on field house_id"),
        ({"house_id": b"alice"}, "must be string on field house_id"),
        ({"loud": 1}, "loud is 1"),
        ({"loud": None}, "loud is None"),
        ({"occurred_at": 1.5}, "1.5 (type <class 'float'>) do not match ['null', 'long'] on field occurred_at"),
        ({"occurred_at": "now"}, "on field occurred_at"),
        ({"occurred_at": True}, "on field occurred_at"),
        ({"occurred_at": 2**63}, "on field occurred_at"),
        ({"occurred_at": ("long", 1)}, "on field occurred_at"),
        ({"event_id": "\ud800"}, "surrogates not allowed"),
        ({"house_id": ""}, "an empty id"),
        ({"event_id": ""}, "an empty id"),
        ({"source": Source("", 1)}, "an empty id"),
        ({"source": None}, "source=None"),
        ({"source": Source(None, 1)}, "must be string on field shard_id"),
        ({"source": Source("s", "7")}, "sequence_number is '7'"),
        ({"source": Source("s", True)}, "sequence_number is True"),
        ({"source": Source("s", -1)}, "sequence_number is -1"),
        ({"source": Source("s", 10**5000)}, "integer string conversion"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(change, named):
    """The error names the topic, the field and the value."""
    with pytest.raises(ContractError, match="Knocked") as refused:
        codec(KNOCKED).encode(replace(KNOCK, **change))
    assert named in str(refused.value)


@pytest.mark.parametrize("wrong", ["gone", None, 1, ["let"]])
def test_a_word_that_is_none_of_those_agreed_is_refused(wrong):
    """By whoever would write it."""
    assert codec(RENTED).encode(RENT)
    with pytest.raises(ContractError, match="Rented cannot be written"):
        codec(RENTED).encode(replace(RENT, state=wrong))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [(1.5, "occurred_at is 1.5"), (True, "is True"), (None, "is None"), ("1", "is '1'"), (2**63, "int too large")],
)
def test_a_moment_that_may_not_be_null_is_held_to_its_type(wrong, named):
    """A plain long takes no float, although fastavro would."""
    tweet = Posted("e", Source("s", 7), "1" * 19, "alice", "hi", 1)
    with pytest.raises(ContractError, match=f"Posted.*{named}"):
        codec(POSTED).encode(replace(tweet, occurred_at=wrong))


@pytest.mark.parametrize("tweet_id", ["", "x", "-1", "1.5", "999", "1" * 18, "1" * 20, " " + "1" * 18, "\u0661" * 19])
def test_a_tweets_id_has_19_digits_both_ways(tweet_id):
    """Scripts and cursors sort by it; a record that has something else must not come as far as them."""
    with pytest.raises(ContractError, match="Posted"):
        codec(POSTED).encode(Posted("e", Source("s", 7), tweet_id, "alice", "hi", 1))
    record = examples(POSTED, SMALL)[0].record | {"tweet_id": tweet_id}
    body = BytesIO()
    schemaless_writer(body, parse_schema(json.loads(POSTED.latest.schema)), record)
    with pytest.raises(ContractError, match="Posted"):
        codec(POSTED).decode(b"\0\0\0\0\1" + body.getvalue())


def test_another_topics_event_is_refused():
    """Posted and Removed share their fields' names; the class decides."""
    with pytest.raises(ContractError, match="Knocked cannot be made of Removed"):
        codec(KNOCKED).encode(Removed("e", Source("s", 7), "1", "alice", None))


def test_every_truncation_is_refused(topic):
    """No prefix of any example is an event."""
    decode = codec(topic).decode
    for example in examples(topic):
        for size in range(len(example.value)):
            with pytest.raises(ContractError, match=topic.name):
                decode(example.value[:size])


def test_trailing_bytes_are_refused(topic):
    """A whole event followed by anything is not an event."""
    for example in examples(topic):
        with pytest.raises(ContractError, match=f"{topic.name}: 2 bytes too many"):
            codec(topic).decode(example.value + b"\0\0")


@given(st.binary(max_size=80))
def test_noise_is_refused_or_an_event(noise):
    """Whatever follows a good header: a ContractError, or an event that can be encoded."""
    both = codec(KNOCKED)
    try:
        event = both.decode(b"\0\0\0\0\1" + noise)
    except ContractError:
        return
    assert both.decode(both.encode(event)) == event


@pytest.mark.parametrize("digits", ["", "-5", "1_000", " 7", "seven", "1" * 5000])
def test_a_sequence_number_that_is_none_is_refused(digits):
    """int() alone would take some of these."""
    body = BytesIO()
    record = vars(KNOCK) | {"source": {"shard_id": "s", "sequence_number": digits}}
    schemaless_writer(body, parse_schema(json.loads(KNOCKED.latest.schema)), record)
    with pytest.raises(ContractError, match="Knocked"):
        codec(KNOCKED).decode(b"\0\0\0\0\1" + body.getvalue())


@pytest.mark.parametrize("value", [None, b""])
def test_a_message_without_a_value_is_refused(value):
    """A tombstone is no event."""
    with pytest.raises(ContractError, match="Knocked: no value"):
        codec(KNOCKED).decode(value)


def test_another_magic_byte_is_refused():
    """Not our wire format, so no id is looked up."""
    with pytest.raises(ContractError, match="Knocked: the magic byte is 1, not 0"):
        Codec(KNOCKED, {1: 1}, pytest.fail).decode(b"\1\0\0\0\1")


def test_an_unknown_id_is_told_apart_since_a_registry_may_lag():
    """A consumer asks again a few times before it gives the event up."""
    with pytest.raises(UnknownSchemaError, match="9"):
        codec(KNOCKED).decode(b"\0\0\0\0\x09...")


@pytest.mark.parametrize(
    "fetched",
    [
        "",
        "5",
        "[]",
        '"string"',
        '{"fields": []}',
        '{"type": "string", "fields": []}',
        '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "b"}]}',
        '{"type": "record", "name": "A", "fields": [{"name": "a", "type": {"type": "fixed", "name": "A", "size": 1}}]}',
        POSTED.latest.schema,
    ],
)
def test_an_id_of_something_else_is_refused(fetched):
    """Another topic's schema, or none at all, does not make an event of the bytes."""
    with pytest.raises(ContractError, match="Knocked: schema id 9 is of"):
        Codec(KNOCKED, {1: 1}, lambda _: fetched).decode(b"\0\0\0\0\x09...")


def test_a_schema_that_cannot_become_the_latest_is_refused(schema):
    """Somebody registered it elsewhere, with the compatibility off."""
    other = schema | {"fields": [schema["fields"][0] | {"type": "boolean"}]}
    with pytest.raises(ContractError, match="Knocked cannot be read: SchemaResolutionError"):
        Codec(KNOCKED, {1: 1}, lambda _: json.dumps(other)).decode(b"\0\0\0\0\x09\0")


def test_an_older_version_is_decoded_to_the_latest(schema, with_versions):
    """What the old schema lacks has its default."""
    older = schema | {"fields": [field for field in schema["fields"] if field["name"] != "occurred_at"]}
    value = codec(with_versions(older)).encode
    topic = with_versions(older, schema)
    old = codec(replace(topic, versions=topic.versions[:1])).encode(KNOCK)
    assert value(KNOCK) == old
    assert codec(topic).decode(old) == replace(KNOCK, occurred_at=None)


def test_a_newer_version_is_fetched_once_and_decoded(schema, with_versions):
    """A service deployed last reads what a newer producer writes, and asks the registry one time."""
    newer = schema | {"fields": [NOTE, *schema["fields"]]}
    fetched = []

    def fetch(schema_id):
        fetched.append(schema_id)
        return json.dumps(newer)

    body = BytesIO()
    record = vars(KNOCK) | {"source": {"shard_id": "s", "sequence_number": "7"}, "note": "new"}
    schemaless_writer(body, parse_schema(newer), record)
    decode = Codec(with_versions(schema), {1: 1}, fetch).decode
    assert [decode(b"\0\0\0\0\x09" + body.getvalue()) for _ in range(3)] == [KNOCK] * 3
    assert fetched == [9]
