"""What a team without this repository reads about each service's tables and topics is what the contracts say."""

import json
import re
from pathlib import Path

import pytest

from contracts import TOPICS, migrations
from contracts.table_files import load
from contracts.topic import DATA
from murmuration_testkit.charts.manifests import Release
from murmuration_testkit.charts.pod_policies import has_its_own_account, restricted
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


def test_the_first_time_names_each_step_that_expand_leaves_where_a_stack_made_the_tables():
    """In their order; without one of them the services would go an old way for good."""
    text = PAGE.read_text("utf-8")
    one = [(name, [step]) for step, name in re.findall(r"^ +tables (\w+) ([\w-]+) --yes$", text, re.MULTILINE)]
    loops = re.findall(r"^ +for step in ([\w ]+); do tables \$step ([\w-]+) --yes; done$", text, re.MULTILINE)
    named = dict(one) | {name: steps.split() for steps, name in loops}
    assert named == {name: [*each.steps[1:]] for name, each in migrations.load(DATA, TABLES).items()}


def test_the_pod_for_a_step_by_hand_is_as_the_job_of_the_tables_chart_is():
    """Its account and settings; and what Pod Security lets in."""
    text = (PAGE.parent / "operations.md").read_text("utf-8")
    (overrides,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    pod = json.loads(overrides)["spec"]
    (container,) = pod["containers"]
    assert f"kubectl run {container['name']} " in text  # else the one does not go into the other
    assert pod["serviceAccountName"] == "tables"
    assert container["envFrom"] == [{"configMapRef": {"name": "tables-expand"}}]
    release = Release([{"kind": "Pod", "metadata": {"name": container["name"]}, "spec": pod}])
    assert [*restricted(release), *has_its_own_account(release)] == []
