"""Exports: what whoever begins with one ends with, whatever happens meanwhile."""

import io
import json
from hashlib import sha256

import avro.datafile
import avro.io
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_bridge.dynamo_rows import Rows
from cdc_bridge.export import KEPT_MS, TABLES, Place, Progress, record_of
from cdc_bridge.export_files import ExportFiles
from cdc_bridge.export_job import ExportError, export
from cdc_bridge.translate import translate
from contracts import TOPICS
from murmuration_testkit.iam import asks, refusal

from .records import edge, record, tweet, user

NOW = 1_700_000_000_000
PEOPLE = ["ann", "bob", "carol"]


def place():
    return {topic.name: Place("id", [0] * topic.partitions) for topic in TOPICS.values()}


class Tables:
    """Rows of the three tables, two a page; who reads a page too many meets a crash."""

    def __init__(self, rows, pages=10**9):
        self.rows = rows
        self.pages = pages

    def page(self, table, attributes, after):
        self.pages -= 1
        if self.pages < 0:
            raise KeyboardInterrupt
        rows = self.rows[table]
        begin = after["n"] if after else 0
        page = [{name: value for name, value in row.items() if name in attributes} for row in rows[begin : begin + 2]]
        return page, {"n": begin + 2} if begin + 2 < len(rows) else None


def some_rows():
    return {
        "followers": [edge(followee="ann", follower=f"fan-{n}") for n in range(5)],
        "tweets": [tweet(f"{n:019}", deleted_at=7 if n == 1 else None) for n in range(3)],
        "users": [user("ann", version=3), user("bob", deleted_at=5, display_name=None), user("carol")],
    }


def read(directory, table):
    """Read a table's files as Apache's avro package does, if they are what the manifest says."""
    found = []
    for file in json.loads((directory / "manifest.json").read_text())["tables"][table]["files"]:
        content = (directory / file["file"]).read_bytes()
        assert sha256(content).hexdigest() == file["sha256"]
        records = list(avro.datafile.DataFileReader(io.BytesIO(content), avro.io.DatumReader()))
        assert len(records) == file["records"]
        found += records
    return found


@given(st.data())
def test_records_and_then_the_events_from_the_places_on_give_the_table(data):
    """While edges come and go, events are told late, and rows are read page by page."""
    rows, stream, told = {}, [], []

    def live():
        for _ in range(data.draw(st.integers(0, 4))):
            pair = data.draw(st.permutations(PEOPLE))[:2]
            old, new = (edge(*pair), None) if tuple(pair) in rows else (None, edge(*pair))
            stream.append(record(old, new, len(stream) + len(told) + 1))
            rows.pop(tuple(pair)) if new is None else rows.update({tuple(pair): new})
        for _ in range(data.draw(st.integers(0, len(stream)))):
            told.append(translate("followers", "shard", stream.pop(0))[1][0])

    live()
    began = len(told)
    edges, after = set(), ("", "")
    while after is not None:
        live()
        behind = sorted(key for key in rows if key > after)
        for key in behind[:2]:
            found = record_of("followers", rows[key])
            edges.add((found["followee_id"], found["follower_id"]))
        after = behind[1] if len(behind) > 2 else None
    live()
    told += [translate("followers", "shard", each)[1][0] for each in stream]
    for event in told[began:]:
        (edges.add if event.following else edges.discard)((event.followee_id, event.follower_id))
    assert edges == rows.keys()


@pytest.mark.parametrize("killed_after", range(7))
def test_an_export_that_is_killed_goes_on_with_its_first_places(tmp_path, monkeypatch, killed_after):
    """Each row is in it once; what nobody is told of is not: a deleted tweet, a deleted account."""
    monkeypatch.setattr("cdc_bridge.export_job.RECORDS_A_FILE", 2)
    files = ExportFiles(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(export(files, Tables(some_rows(), killed_after), place, NOW))
    assert not files.is_complete()
    list(export(ExportFiles(tmp_path), Tables(some_rows()), pytest.fail, NOW + 5))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["began_at"] == NOW
    assert manifest["places"]["FollowChanged"] == {"topic_id": "id", "offsets": [0] * 12}
    assert [each["follower_id"] for each in read(tmp_path, "followers")] == [f"fan-{n}" for n in range(5)]
    assert [int(each["tweet_id"]) for each in read(tmp_path, "tweets")] == [0, 2]
    assert [(each["user_id"], each["version"]) for each in read(tmp_path, "users")] == [("ann", 3), ("carol", 0)]


def test_what_is_complete_or_too_old_is_not_gone_on_with(tmp_path):
    """A topic may have lost what came since."""
    files = ExportFiles(tmp_path / "old")
    files.save(Progress(NOW, place(), {}))
    with pytest.raises(ExportError, match="began so long ago"):
        list(export(files, Tables(some_rows()), pytest.fail, NOW + KEPT_MS))
    files = ExportFiles(tmp_path / "done")
    list(export(files, Tables(some_rows()), place, NOW))
    with pytest.raises(ExportError, match="is complete"):
        list(export(files, Tables(some_rows()), pytest.fail, NOW))


def test_a_row_that_breaks_its_contract_is_told_and_left_out(tmp_path, caplog):
    """As the bridge would tell of it in a dead letter."""
    rows = some_rows()
    del rows["followers"][0]["followed_at"]
    list(export(ExportFiles(tmp_path), Tables(rows), place, NOW))
    assert len(read(tmp_path, "followers")) == 4
    assert [(each.table, each.reason) for each in caplog.records] == [
        ("followers", "followed_at is missing in NewImage")
    ]


@pytest.mark.parametrize("table", TABLES)
def test_every_attribute_that_a_record_is_made_of_is_read(table):
    """What is read makes the same record as the whole row."""
    for row in some_rows()[table]:
        read_of_it = {name: row[name] for name in TABLES[table].attributes if name in row}
        assert record_of(table, read_of_it) == record_of(table, row)


@pytest.mark.parametrize("table", TABLES)
def test_the_bridge_may_read_what_an_export_reads_and_reads_it_strongly_consistent(table):
    """By its IAM policy, attribute by attribute."""
    asked = []

    class Client:
        def scan(self, **request):
            asked.append(request)
            return {"Items": []}

    assert Rows(Client(), "", lambda: None).page(table, TABLES[table].attributes, None) == ([], None)
    (request,) = asked
    assert request["ConsistentRead"]
    assert [said for ask in asks("Scan", request) if (said := refusal("cdc-bridge", ask))] == []
