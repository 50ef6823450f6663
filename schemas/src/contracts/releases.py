"""What each release of this package brought: a version, its lines in the changelog, and a fingerprint of each contract.

Rule: no contract is another under the same version. What differs from the last release is named in CHANGELOG.md under
a version that is not released yet, so whoever pins a version has what it says. `make release S=schemas` notes it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import yaml

from contracts import kafka_settings, service_contracts
from contracts.table_files import TableFile
from contracts.topic import Topic

FILE = "releases.yaml"
GONE = "gone"
_SECTION = re.compile(r"^## (\S+).*\n((?:(?!## ).*\n?)*)", re.MULTILINE)

Fingerprints = Mapping[str, str]
"""By the name of a contract: `FollowChanged 1` is a schema, `FollowChanged` a topic, `users` a table."""


def contracts(topics: Mapping[str, Topic], tables: Mapping[str, TableFile]) -> Fingerprints:
    """Return the contracts as the files have them now."""
    schemas = {
        f"{stem} {version.number}": service_contracts.fingerprint(version)
        for stem, topic in topics.items()
        for version in topic.versions
    }
    laid = {
        stem: _of([topic.key_field, topic.header_fields, kafka_settings.told(topic)]) for stem, topic in topics.items()
    }
    shapes = {
        name: _of(
            [
                file.key,
                {index: [it.key, it.projection] for index, it in file.indexes.items()},
                {attribute: it.type for attribute, it in file.attributes.items()},
                file.stream,
                file.expires,
            ]
        )
        for name, file in tables.items()
    }
    return schemas | laid | shapes


def unreleased(now: Fingerprints, data: Path) -> Fingerprints:
    """Return what differs from the last release; what is not there any more is GONE."""
    last = {name: it for changed in _released(data).values() for name, it in changed.items()}
    there = {name for name, it in last.items() if it != GONE}
    return {name: it for name, it in now.items() if last.get(name) != it} | dict.fromkeys(there - now.keys(), GONE)


def version(data: Path) -> str:
    """Return the version that the changelog begins with, which is the package's."""
    return _newest(data)[0]


def is_released(data: Path) -> bool:
    """Tell whether a release has been made of the package's version."""
    return version(data) in _released(data)


def since(name: str, data: Path) -> str:
    """Return the release that brought a contract first; of one that is not released, the version that will."""
    return next((release for release, brought in _released(data).items() if name in brought), version(data))


def findings(now: Fingerprints, data: Path) -> Iterator[str]:
    """Return a sentence for each contract that differs from the last release, and that the changelog does not name."""
    newest, lines = _newest(data)
    for name in unreleased(now, data):
        if is_released(data):
            yield (
                f"{name} is not as {newest} has it, which is released: raise the version in pyproject.toml, "
                f"and say in CHANGELOG.md under the new version what changes of {name}"
            )
        elif not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", lines):
            yield f"{name} is not as it was released: say in CHANGELOG.md under {newest} what changes of {name}"


def noted(release: str, now: Fingerprints, data: Path) -> str:
    """Return the text of releases.yaml with one more release in it."""
    entry = yaml.safe_dump({release: dict(unreleased(now, data))}, sort_keys=False)
    return (data / FILE).read_text("utf-8") + entry


def _newest(data: Path) -> tuple[str, str]:
    newest = _SECTION.search((data / "CHANGELOG.md").read_text("utf-8"))
    return (newest[1], newest[2]) if newest else ("", "")


def _released(data: Path) -> Mapping[str, Fingerprints]:
    released: Mapping[str, Fingerprints] = yaml.safe_load((data / FILE).read_text("utf-8"))
    return released


def _of(shape: object) -> str:
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[: service_contracts.DIGITS]
