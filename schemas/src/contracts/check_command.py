"""`python -m contracts check`: whatever is wrong with the files, all of it at once."""

import sys
from argparse import Namespace
from collections.abc import Callable

from contracts import TOPICS, ContractError, kafka_settings, releases, table_files
from contracts.check import check
from contracts.patience import say
from contracts.tables import TABLES
from contracts.topic import DATA


def run(_: Namespace) -> int:
    """Say what is in order, and what is not."""
    parts: tuple[Callable[[], None], ...] = (_topics, _settings, _tables, _releases)
    return int(sum(_is_broken(part) for part in parts) > 0)


def _is_broken(part: Callable[[], None]) -> bool:
    try:
        part()
    except ContractError as error:
        sys.stderr.write(f"{error}\n")
        return True
    return False


def _topics() -> None:
    check(TOPICS, DATA, say)


def _settings() -> None:
    say(f"settings: {kafka_settings.check(TOPICS, DATA)} of the topics and their dead letters, as they were released")


def _tables() -> None:
    tables = table_files.load(DATA)
    table_files.check(tables, TABLES)
    say(f"tables: {', '.join(tables)}: {sum(len(it.attributes) for it in tables.values())} attributes, all named")


def _releases() -> None:
    now = releases.contracts(TOPICS, table_files.load(DATA))
    if faults := [*releases.findings(now, DATA)]:
        raise ContractError("\n".join(faults))
    new = ", ".join(releases.unreleased(now, DATA)) or "nothing"
    say(f"releases: {releases.version(DATA)}; not released yet: {new}")
