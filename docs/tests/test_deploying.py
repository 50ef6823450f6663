"""What a team without this repository reads about each service's tables and topics is what the contracts say."""

import re
from pathlib import Path

import pytest

from contracts import TOPICS
from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit.services import SERVICES

PAGE = Path(__file__).parents[1] / "deploying.md"
ROWS = {row.split("|")[1].strip(): row.split("|")[2:] for row in PAGE.read_text("utf-8").splitlines() if "|" in row}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
TABLES = load(DATA)


def named(cell: str) -> set[str]:
    """Return the tables and topics that a cell names."""
    return {word for word in re.findall(r"\w+", cell) if word in TABLES or word in TOPICS}


@pytest.mark.parametrize("service", SERVICES)
def test_a_row_names_what_the_contracts_give_the_service(service):
    """Tables by schemas/tables, topics by schemas/topics."""
    access = {name: table.access[service] for name, table in TABLES.items() if table.access.get(service)}
    written = {name for name, places in access.items() if WRITES & {it for each in places.values() for it in each}}
    writes, reads, out, into, *_ = map(named, ROWS[service])
    assert (writes, reads) == (written, access.keys() - written)
    assert out == {name for name, topic in TOPICS.items() if service in topic.producers}
    assert into == {name for name, topic in TOPICS.items() if service in topic.consumers}
