"""The page of a topic: all that its file and its schemas say, and current."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from contracts import TOPICS
from contracts.topic import DATA
from contracts.topic_page import page

from .small_contracts import KNOCKED, RENTED, SMALL


def pages(*arguments):
    """Run `python -m contracts pages`."""
    command = [sys.executable, "-m", "contracts", "pages", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603


@pytest.mark.parametrize("stem", TOPICS)
def test_a_page_has_whatever_the_contract_says(stem):
    """Meaning, origin, who, key, headers, fields with their docs, versions, settings and an example."""
    topic, text = TOPICS[stem], page(TOPICS[stem], DATA)
    words = " ".join(text.split())
    told = [topic.description, topic.source[1:], *topic.producers, *topic.consumers, topic.subject, topic.dlq]
    told += [
        f"The key is `{topic.key_field}`",
        f"modulo {topic.partitions}",
        f"min.insync.replicas={topic.min_insync_replicas}",
    ]
    told += [f"`{path.rpartition('.')[2]}`" for path in topic.header_fields]
    for field in json.loads(topic.latest.schema)["fields"]:
        told += [f"| `{field['name']}` | ", *([field["doc"]] if "doc" in field else [])]
    assert [each for each in told if " ".join(each.split()) not in words] == []
    assert text.count("\n| 1 | ") == 1
    assert json.loads(text.partition("```json\n")[2].partition("```")[0])["event_id"]


@pytest.fixture
def data(tmp_path):
    """Our own small contracts, with a release of them."""
    data = shutil.copytree(SMALL, tmp_path / "data")
    (data / "CHANGELOG.md").write_text("## 0.2.0\n- Knocked 2.\n")
    (data / "releases.yaml").write_text("0.1.0: {Knocked 1: 0a}\n")
    return data


def test_a_page_says_since_when_there_is_a_field_and_whom_it_tells_of(schema, with_versions, data):
    """By the versions and their releases, and by `personal` in the topic's file."""
    mood = {"name": "mood", "type": ["null", "string"], "default": None, "doc": "How, or | how not."}
    topic = with_versions(schema, schema | {"fields": [*schema["fields"], mood]})
    topic = replace(topic, personal=replace(topic.personal, what=(*topic.personal.what, "mood")))
    knock = {"house_id": "alice", "visitor_id": "bob", "loud": True, "occurred_at": 1, "mood": "glad"}
    knock |= {"event_id": "e", "source": {"shard_id": "s", "sequence_number": "7"}}
    for version in topic.versions:
        known = {name: value for name, value in knock.items() if name in version.fields}
        (data / "examples" / version.examples_file).write_text(json.dumps({f"knock {version.number}": known}))
    text = page(topic, data)
    assert "| `mood` | string or null | 2 | what | How, or \\| how not. |" in text
    assert "| `visitor_id` | string | 1 | who |" in text
    rows = [row for row in text.partition("## Versions")[2].splitlines() if row.startswith(("| 1 |", "| 2 |"))]
    assert [row.split(" | ")[1:4:2] for row in rows] == [["0.1.0", "the first |"], ["0.2.0", "adds `mood` |"]]
    assert '"mood": "glad"' in text


def test_who_reads_a_compacted_topic_is_told_of_tombstones_and_who_reads_another_of_its_end(data):
    """Each of them has to stand something else."""
    words = "Tombstones", "**Holes**", "`version` is the later", "**An end**", "`source.sequence_number` only repeats"
    compacted, deleted = (" ".join(page(topic, data).split()) for topic in (RENTED, KNOCKED))
    assert [word in compacted for word in words] == [True, True, True, False, False]
    assert [word in deleted for word in words] == [False, False, False, True, True]


def test_a_page_that_is_old_missing_or_of_no_topic_is_found_and_mended(tmp_path):
    """So `make docs` was run, or a test says so."""
    assert pages(tmp_path).returncode == 0
    assert pages(tmp_path, "--check").returncode == 0
    old, missing, strange = tmp_path / "FollowChanged.md", tmp_path / "TweetCreated.md", tmp_path / "Knocked.md"
    old.write_text(old.read_text().replace("follower", "leader"))
    missing.unlink()
    strange.write_text("# Knocked\n")
    refused = pages(tmp_path, "--check")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"{path} is not what the contracts say: make docs" for path in (old, missing, strange)
    ]
    assert strange.exists()
    assert pages(tmp_path).returncode == 0
    assert pages(tmp_path, "--check").returncode == 0
