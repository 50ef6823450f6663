"""`python -m contracts apply` makes broker and registry follow the files; `check` asks whether the files agree."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial

from contracts import TOPICS, ContractError, kafka_settings, table_files
from contracts.tables import TABLES
from contracts.topic import DATA

PAUSE_S = 1.0
say = partial(print, flush=True)


def main() -> int:
    """Run one command; 1 and a line on stderr if the contract is broken or somebody is away."""
    parser = argparse.ArgumentParser(prog="python -m contracts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="check topics, schemas, examples and tables; needs nothing but the files")
    apply = commands.add_parser("apply", help="make broker and registry follow the files; safe to repeat")
    apply.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="how long they may be away")
    apply.add_argument("--dry-run", action="store_true", help="only say what differs; then the exit code is 1")
    arguments = parser.parse_args()
    try:
        if arguments.command == "check":
            _check()
        else:
            return _apply(arguments.wait, arguments.dry_run)
    except (ContractError, TimeoutError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _check() -> None:
    from contracts.check import check  # noqa: PLC0415  each command has an extra of its own

    check(TOPICS, DATA, say)
    say(f"settings: {kafka_settings.check(TOPICS, DATA)} of the topics and their dead letters, as they were released")
    tables = table_files.load(DATA)
    table_files.check(tables, TABLES)
    say(f"tables: {', '.join(tables)}: {sum(len(it.attributes) for it in tables.values())} attributes, all named")


def _apply(wait_s: float, dry_run: bool) -> int:
    from confluent_kafka import KafkaException  # noqa: PLC0415
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415

    from contracts.apply import apply_subject, apply_topics, wanted  # noqa: PLC0415
    from contracts.registry import Registry, RegistryAwayError  # noqa: PLC0415

    broker, url = _env("KAFKA_BOOTSTRAP_SERVERS"), _env("SCHEMA_REGISTRY_URL")
    factor = _replication_factor()
    topics = [each for topic in TOPICS.values() for each in wanted(topic, factor or topic.replication_factor)]
    admin = AdminClient({"bootstrap.servers": broker, "log_level": 0})  # in a variable, or its futures die with it
    registry = Registry(url)

    def subjects() -> bool:
        return sum(apply_subject(registry, topic, say, dry_run=dry_run) for topic in TOPICS.values()) > 0

    deadline = time.monotonic() + wait_s
    differ = _until(
        deadline, f"Kafka at {broker}", KafkaException, lambda: apply_topics(admin, topics, say, dry_run=dry_run)
    )
    differ |= _until(deadline, f"the registry at {url}", RegistryAwayError, subjects)
    return int(dry_run and differ)


def _until(deadline: float, whom: str, away: type[Exception], act: Callable[[], bool]) -> bool:
    """Act, again and again while they are away, until the deadline. What was done before is done once more, idly."""
    while True:
        try:
            return act()
        except away as error:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{whom} is away: {error}") from error
            say(f"waiting for {whom}: {error}")
            time.sleep(PAUSE_S)


def _env(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise ContractError(f"the environment variable {name} is missing") from None


def _replication_factor() -> int | None:
    text = os.environ.get("TOPIC_REPLICATION_FACTOR")
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ContractError(f"TOPIC_REPLICATION_FACTOR is {text!r}, not a number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
