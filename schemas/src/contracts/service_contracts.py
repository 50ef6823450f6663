"""What a service knows of the contracts: versions of topics, attributes of tables. Pure.

Rule: a running service tells it in its metric build_info, as text that every later version of this module reads. It is
entries divided by "; ", each a name and its parts: `FollowChanged 1:12c50c93f6b3< 2:0f…<; TweetCreated …`. A part of a
topic is a version and the beginning of its schema's sha256, a part of a table an attribute and its type. Behind it
stands "<" if the service reads it, ">" if it writes it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from contracts import table_files
from contracts.errors import ContractError
from contracts.table_files import TableFile
from contracts.topic import DATA, TOPICS, Topic, Version

DIGITS = 12  # of a fingerprint: enough to tell a handful of schemas apart, and short in a label
_PART = re.compile(r"([^\s:;<>]+):([^\s:;<>]+?)(<?)(>?)")


class Part(NamedTuple):
    """One version of a topic, or one attribute of a table: its fingerprint or type, and what is done with it."""

    value: str
    reads: bool
    writes: bool


Parts = Mapping[str, Mapping[str, Part]]


@dataclass(frozen=True)
class ServiceContracts:
    """One service's part of the contracts: versions by topic, attributes by table."""

    service: str
    version: str
    topics: Parts
    tables: Parts

    def __str__(self) -> str:
        """Name it as an operator does."""
        return f"{self.service} {self.version}"

    def labels(self) -> dict[str, str]:
        """Return it as labels of build_info."""
        return {"topics": _to_text(self.topics), "tables": _to_text(self.tables)}

    def document(self) -> dict[str, object]:
        """Return it as `python -m SERVICE contracts` prints it."""
        return {
            "service": self.service,
            "version": self.version,
            "topics": {
                name: {
                    "roles": [role for role, has in zip(("consumer", "producer"), _roles(parts), strict=True) if has],
                    "versions": {number: part.value for number, part in parts.items()},
                }
                for name, parts in self.topics.items()
            },
            "tables": {
                name: {
                    "reads": {attribute: part.value for attribute, part in parts.items() if part.reads},
                    "writes": {attribute: part.value for attribute, part in parts.items() if part.writes},
                }
                for name, parts in self.tables.items()
            },
        }


def contracts_of(
    service: str,
    version: str,
    topics: Mapping[str, Topic] = TOPICS,
    tables: Mapping[str, TableFile] | None = None,
) -> ServiceContracts:
    """Return what this commit's files say that the service reads and writes."""
    tables = table_files.load(DATA) if tables is None else tables
    of_topics = {
        topic.name: {
            str(each.number): Part(fingerprint(each), service in topic.consumers, service in topic.producers)
            for each in topic.versions
        }
        for topic in topics.values()
    }
    of_tables = {
        file.name: {
            name: Part(it.type, service in it.read_by, service in it.written_by) for name, it in file.attributes.items()
        }
        for file in tables.values()
    }
    return ServiceContracts(service, version, _touched(of_topics), _touched(of_tables))


def services(topics: Mapping[str, Topic] = TOPICS, tables: Mapping[str, TableFile] | None = None) -> list[str]:
    """Return the names of all services that produce or consume a topic, or touch a table."""
    tables = table_files.load(DATA) if tables is None else tables
    of_topics = {name for topic in topics.values() for name in (*topic.producers, *topic.consumers)}
    return sorted(of_topics.union(*(file.access for file in tables.values())))


def fingerprint(version: Version) -> str:
    """Return the beginning of the sha256 of a version's schema."""
    return sha256(version.schema.encode()).hexdigest()[:DIGITS]


def _to_text(parts: Parts) -> str:
    """Write parts as the head of this module says; from_text reads it."""
    return "; ".join(
        " ".join([name, *(f"{key}:{it.value}{'<' * it.reads}{'>' * it.writes}" for key, it in each.items())])
        for name, each in parts.items()
    )


def from_text(text: str) -> Parts:
    """Read such a text; whatever is no such text is a ContractError."""
    return dict(_entry(entry.split()) for entry in text.split("; ") if entry)


def _entry(words: list[str]) -> tuple[str, dict[str, Part]]:
    parts = {}
    for word in words[1:]:
        match = _PART.fullmatch(word)
        if match is None:
            raise ContractError(f"{words[0]}: {word!r} is no version and no attribute")
        parts[match[1]] = Part(match[2], bool(match[3]), bool(match[4]))
    return words[0] if words else "", parts


def _touched(parts: Parts) -> Parts:
    used = {
        name: {key: it for key, it in each.items() if it.reads or it.writes} for name, each in sorted(parts.items())
    }
    return {name: each for name, each in used.items() if each}


def _roles(parts: Mapping[str, Part]) -> Iterable[bool]:
    return any(it.reads for it in parts.values()), any(it.writes for it in parts.values())
