"""The page about personal data names every topic and every table, with what the contracts say of them."""

import re
from pathlib import Path

import pytest

from contracts import TOPICS
from contracts.tables import TABLES
from contracts.topic_page import days

PAGE = (Path(__file__).parents[1] / "personal-data.md").read_text("utf-8")
OF_TABLES, OF_TOPICS = (PAGE.partition(f"## {heading}")[2].partition("\n## ")[0] for heading in ("Tables", "Topics"))


def rows(section):
    """Return the cells of each row of the section's table."""
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in section.splitlines() if row.startswith("| ")]


def test_each_table_is_on_the_page_once():
    """Whether it tells of people or not."""
    named = [name for cells in rows(OF_TABLES) for name in re.findall(r"`(\w+)`", cells[0])]
    assert sorted(named) == sorted(TABLES)


@pytest.mark.parametrize("stem", TOPICS)
def test_each_topic_is_on_the_page_with_how_long_it_keeps_an_event(stem):
    """By the days in its file, and a segment's, because Kafka deletes whole segments."""
    topic = TOPICS[stem]
    ((_, who, what, kept, after),) = [cells for cells in rows(OF_TOPICS) if cells[0] == f"`{stem}`"]
    assert (len(who.split(", ")), bool(what)) == (len(topic.personal.who), bool(topic.personal.what))
    if topic.is_compacted:
        assert kept.startswith("for good")
        assert f"about {days(2 * topic.segment_days)}, the tombstone {days(topic.retention_days)} later" in after
    else:
        assert kept == days(topic.retention_days + topic.segment_days)
    assert f"| {days(topic.dead_letters.retention_days + topic.segment_days)} |" in OF_TOPICS
