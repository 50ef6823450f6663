"""The page of a topic, for whoever reads or writes it: made of its file, its schemas and an example. Pure.

Rule: nothing here is known from elsewhere, so a page is true whenever it is made; `make docs` makes all of them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

from contracts import kafka_settings, releases, service_contracts
from contracts.examples import examples
from contracts.topic import Topic

WIDTH = 140
MADE = "<!-- Made by `make docs` from schemas/topics/{stem}.yaml and its schemas; do not edit. -->"
KEYS = (
    "The key is `{key}`, in UTF-8. Its partition is murmur2 of the key, made positive, modulo {partitions}, as Kafka's "
    "Java clients have it; the number never changes."
)
ORDERED_BY_PLACE = (
    "Every change that was committed arrives, at least once. Within one partition and one `source.shard_id`, "
    "`source.sequence_number` only repeats or grows, and a later event is never there when an earlier one is missing. "
    "So the changes of one key come in their order, and the last sequence number of each shard is all that a consumer "
    "must remember to know a repeat. A shard ends after some hours, and another goes on for it."
)
ORDERED_BY_VERSION = (
    "Every change that was committed arrives, at least once; of each key Kafka then keeps the last state, for good. "
    "Of two states of a key the one with the higher `version` is the later, whatever its shard and whenever it came."
)
REPEATS = "- **Repeats**: the same event again, also long after others of its key. What it does must be safe to repeat."
ANY_ORDER = "- **Any order** of different keys, and of different topics."
VERSIONS = "- **Versions**, newer than it knows and older: it reads all of them with its own schema."
GAPS = "- **Gaps**: a change of which no event can be made is told in `{dlq}`, and no event of it ever comes."
HOLES = "- **Holes**: states that were replaced are gone, so offsets are missing."
TOMBSTONES = (
    "- **Tombstones**, messages without a value: the key is gone for good. Their headers have `version`, like any "
    "event's. They stay for {days}: whoever was away for longer begins anew, at the first offset."
)
AN_END = "- **An end**: an event stays for {days}. Whoever was away for longer begins with a snapshot."
TELLS = "`tells` is what is personal in it: who somebody is, by an id, or what is said of them or by them."
HEADERS = (
    "Headers, as text, for whoever cannot read the value: {headers}. If the request was traced, also `traceparent`."
)
ENDS_IF_COMPACTED = (
    "The last state of each key stays for good. What was replaced is gone after about {replaced}, a tombstone {days} "
    "later."
)
ENDS_IF_DELETED = "Kafka deletes whole segments, by their newest event: so an event is gone after at most {most}."
OUTAGE = "That is chosen for an outage of {days}: {which}."


def page(topic: Topic, data: Path) -> str:
    """Return the page as Markdown."""
    stem = topic.event.__name__
    sections = {
        "What gives it": _origin(topic),
        "Order and delivery": _delivery(topic),
        "What a consumer must be able to stand": _to_stand(topic),
        "Fields": _fields(topic),
        "Versions": _versions(topic, stem, data),
        "In Kafka": _in_kafka(topic),
        "An example": _example(topic, data),
    }
    lines = [MADE.format(stem=stem), f"# {topic.name}", "", topic.description, ""]
    for heading, content in sections.items():
        lines += [f"## {heading}", *content, ""]
    return "\n".join(map(_wrapped, lines[:-1])) + "\n"


def days(number: int) -> str:
    """Return a number of days in words."""
    return f"{number} {'day' if number == 1 else 'days'}"


def _wrapped(line: str) -> str:
    """Break a line of prose where an editor would; one of a list goes on under its own text."""
    if line.startswith(("|", "<!--")):
        return line
    indent = "  " * line.startswith("- ")
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) if line else ""


def _origin(topic: Topic) -> Iterator[str]:
    yield topic.source[0].upper() + topic.source[1:]
    yield ""
    yield f"Produced by {_and(topic.producers)}. Consumed here by {_and(topic.consumers) or 'nobody yet'}."


def _delivery(topic: Topic) -> Iterator[str]:
    yield KEYS.format(key=topic.key_field, partitions=topic.partitions)
    yield ""
    yield ORDERED_BY_VERSION if topic.is_compacted else ORDERED_BY_PLACE


def _to_stand(topic: Topic) -> Iterator[str]:
    more = (HOLES, TOMBSTONES) if topic.is_compacted else (AN_END,)
    for sentence in (REPEATS, ANY_ORDER, VERSIONS, GAPS, *more):
        yield sentence.format(dlq=topic.dlq, days=days(topic.retention_days))


def _fields(topic: Topic) -> Iterator[str]:
    yield "| field | type | since | tells | what it is |"
    yield "|---|---|---|---|---|"
    for field in json.loads(topic.latest.schema)["fields"]:
        name = field["name"]
        since = next(version.number for version in topic.versions if name in version.fields)
        yield f"| `{name}` | {_type(field['type'])} | {since} | {_tells(topic, name)} | {_cell(field.get('doc', ''))} |"
        for inner in _inner(field["type"]):
            yield f"| `{name}.{inner['name']}` | {_type(inner['type'])} | {since} | | {_cell(inner.get('doc', ''))} |"
    yield ""
    yield TELLS
    yield ""
    yield HEADERS.format(headers=", ".join(f"`{path.rpartition('.')[2]}`" for path in topic.header_fields))


def _versions(topic: Topic, stem: str, data: Path) -> Iterator[str]:
    yield f"Subject `{topic.subject}`, {topic.compatibility}: each version reads each other."
    yield ""
    yield "| version | since event-contracts | sha256 of the schema | what changed |"
    yield "|---|---|---|---|"
    before: set[str] = set()
    for version in topic.versions:
        names = set(version.fields)
        changes = [f"adds `{name}`" for name in sorted(names - before)]
        changes += [f"lacks `{name}`" for name in sorted(before - names)]
        told = ", ".join(changes) if before else "the first"
        brought = releases.since(f"{stem} {version.number}", data)
        yield f"| {version.number} | {brought} | `{service_contracts.fingerprint(version)}…` | {told} |"
        before = names


def _in_kafka(topic: Topic) -> Iterator[str]:
    yield "| topic | partitions | settings |"
    yield "|---|---|---|"
    for name, settings in kafka_settings.told(topic).items():
        shown = ", ".join(f"`{key}={value}`" for key, value in settings.items() if key != "partitions")
        yield f"| `{name}` | {settings['partitions']} | {shown} |"
    yield ""
    ends = ENDS_IF_COMPACTED if topic.is_compacted else ENDS_IF_DELETED
    most, replaced = topic.retention_days + topic.segment_days, 2 * topic.segment_days
    yield ends.format(days=days(topic.retention_days), most=days(most), replaced=days(replaced))
    outage = topic.outage_to_survive
    yield OUTAGE.format(days=days(outage.days), which=outage.which)


def _example(topic: Topic, data: Path) -> Iterator[str]:
    shown = next(each for each in examples(topic, data) if each.version == topic.latest.number)
    yield f"{shown.name[0].upper()}{shown.name[1:]}, of version {shown.version}:"
    yield "```json"
    yield from json.dumps(shown.record, indent=2, ensure_ascii=False).splitlines()
    yield "```"


def _type(kind: Any) -> str:
    if isinstance(kind, list):
        return " or ".join(_type(each) for each in sorted(kind, key="null".__eq__))
    if isinstance(kind, dict) and kind["type"] == "enum":
        note = f" ({_cell(kind['doc'].rstrip('.'))})" if "doc" in kind else ""
        return "one of " + ", ".join(f"`{symbol}`" for symbol in kind["symbols"]) + note
    return _type(kind["type"]) if isinstance(kind, dict) else str(kind)


def _inner(kind: Any) -> list[dict[str, Any]]:
    return kind.get("fields", []) if isinstance(kind, dict) else []


def _tells(topic: Topic, field: str) -> str:
    return "who" if field in topic.personal.who else "what" if field in topic.personal.what else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
