"""`python -m contracts list`: which topics and versions there are; it needs nothing but the package."""

from argparse import Namespace

from contracts import TOPICS, releases, service_contracts
from contracts.patience import say
from contracts.topic import DATA


def run(_: Namespace) -> int:
    """Say the package's version, and of each topic what a team looks for first."""
    say(f"event-contracts {releases.version(DATA)}")
    for stem, topic in TOPICS.items():
        say(f"\n{topic.name}: {topic.description}")
        say(f"  key {topic.key_field}, {topic.partitions} partitions, subject {topic.subject}")
        say(f"  from {', '.join(topic.producers)} to {', '.join(topic.consumers)}")
        for version in topic.versions:
            brought = releases.since(f"{stem} {version.number}", DATA)
            say(f"  version {version.number} since {brought}, sha256 {service_contracts.fingerprint(version)}…")
    return 0
