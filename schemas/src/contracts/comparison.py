"""Whether a change of some services gets along with what is deployed: who breaks, and who must go first. Pure.

Rule: a consumer decodes every version to its latest, and a producer writes its latest. So each consumer must read what
each producer writes, deployed or new, and what lies in Kafka from before. What somebody reads goes on being written.
And a consumer goes before the producer of a version that it does not know, because it would not see what that adds. A
version that this change does not have yet is not compared here: the change that added it was, with every older one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts.service_contracts import Part, Parts, ServiceContracts
from contracts.topic import Topic


@dataclass(frozen=True)
class Comparison:
    """A sentence for each fault: who breaks, and who must go first."""

    breaks: tuple[str, ...]
    must_go_first: tuple[str, ...]


def compare(
    new: Sequence[ServiceContracts], topics: Mapping[str, Topic], deployed: Sequence[ServiceContracts]
) -> Comparison:
    """Compare services as a change has them with those that are deployed; topics are those of the change."""
    breaks: list[str] = []
    first: list[str] = []
    for each in new:
        others = [it for it in deployed if it.service != each.service]
        before = [it for it in deployed if it.service == each.service]
        for other in deployed:
            breaks += _changed_schemas(each, other)
            breaks += _changed_types(each, other)
        for topic in topics.values():
            if _reads(each, topic.name):
                breaks += _unread_by_us(each, topic, others)
            if _writes(each, topic.name):
                for other in others:
                    unread = list(_unread_by_them(each, topic, other))
                    breaks += unread
                    first += [] if unread else _goes_first(each, topic, other)
        breaks += _no_longer_written(each, before, others)
    return Comparison(tuple(dict.fromkeys(breaks)), tuple(dict.fromkeys(first)))


def _unread_by_us(new: ServiceContracts, topic: Topic, others: Sequence[ServiceContracts]) -> Iterator[str]:
    for older in topic.versions[:-1]:
        writers = [str(it) for it in others if _writes(it, topic.name) and _latest(it, topic) == older.number]
        source = f"the deployed {' and '.join(writers)} writes" if writers else "still lies in Kafka"
        for culprit in _culprits(topic, reader=topic.latest.number, writer=older.number):
            yield (
                f"{topic.name}: {new} breaks: it reads version {topic.latest.number}, and version {older.number} is "
                f"what {source}: {culprit}"
            )


def _unread_by_them(new: ServiceContracts, topic: Topic, other: ServiceContracts) -> Iterator[str]:
    theirs, ours = _latest(other, topic), topic.latest.number
    if _reads(other, topic.name) and theirs < ours:
        for culprit in _culprits(topic, reader=theirs, writer=ours):
            yield (
                f"{topic.name}: the deployed {other} breaks: it reads version {theirs}, and {new} would write version "
                f"{ours}: {culprit}"
            )


def _goes_first(new: ServiceContracts, topic: Topic, other: ServiceContracts) -> Iterator[str]:
    theirs, ours = _latest(other, topic), topic.latest.number
    # By the change's files it may be a consumer, although what is deployed of it does not read the topic yet.
    if theirs < ours and (_reads(other, topic.name) or other.service in topic.consumers):
        knows = f"knows {topic.name} up to version {theirs}" if theirs else f"does not read {topic.name} yet"
        yield f"{other} must go before {new}: it {knows}, and would not see version {ours}"


def _culprits(topic: Topic, *, reader: int, writer: int) -> Iterable[str]:
    from contracts.compatibility import culprits  # noqa: PLC0415  needs the extra `check`; asked only where versions differ

    return culprits(topic.versions[reader - 1], topic.versions[writer - 1])  # versions are numbered from 1


def _changed_schemas(new: ServiceContracts, other: ServiceContracts) -> Iterator[str]:
    for topic, number, ours, theirs in _both(new.topics, other.topics):
        if ours.value != theirs.value:
            yield (
                f"{topic}: version {number} of {new} is another schema ({ours.value}) than that of the deployed "
                f"{other} ({theirs.value}): a released schema never changes, add a version"
            )


def _changed_types(new: ServiceContracts, other: ServiceContracts) -> Iterator[str]:
    for table, name, ours, theirs in _both(new.tables, other.tables):
        if ours.value != theirs.value:
            yield (
                f"table {table}: {name} is {ours.value} for {new} and {theirs.value} for the deployed {other}: "
                f"an attribute never changes its type, add another"
            )


def _both(ours: Parts, theirs: Parts) -> Iterator[tuple[str, str, Part, Part]]:
    for name in sorted(ours.keys() & theirs.keys()):
        for key in sorted(ours[name].keys() & theirs[name].keys()):
            yield name, key, ours[name][key], theirs[name][key]


def _no_longer_written(
    new: ServiceContracts, before: Sequence[ServiceContracts], others: Sequence[ServiceContracts]
) -> Iterator[str]:
    """Find what the service would cease to write, although somebody reads it and has it from nobody else."""
    for old in before:
        for topic in old.topics:
            if not _writes(old, topic) or any(_writes(it, topic) for it in (new, *others)):
                continue
            for reader in (it for it in others if _reads(it, topic)):
                yield (
                    f"{topic}: the deployed {reader} breaks: it reads the topic, which {old} writes and {new} "
                    f"would not; first deploy a {reader.service} that does without"
                )
        for table, attributes in old.tables.items():
            for name, part in attributes.items():
                if not part.writes or any(_attribute(it, table, name).writes for it in (new, *others)):
                    continue
                for reader in (it for it in others if _attribute(it, table, name).reads):
                    yield (
                        f"table {table}: the deployed {reader} breaks: it reads {name}, which {old} writes and {new} "
                        f"would not; first deploy a {reader.service} that does without"
                    )


def _attribute(contracts: ServiceContracts, table: str, name: str) -> Part:
    return contracts.tables.get(table, {}).get(name, Part("", reads=False, writes=False))


def _reads(contracts: ServiceContracts, topic: str) -> bool:
    return any(part.reads for part in contracts.topics.get(topic, {}).values())


def _writes(contracts: ServiceContracts, topic: str) -> bool:
    return any(part.writes for part in contracts.topics.get(topic, {}).values())


def _latest(contracts: ServiceContracts, topic: Topic) -> int:
    return max((int(number) for number in contracts.topics.get(topic.name, {}) if number.isdecimal()), default=0)
