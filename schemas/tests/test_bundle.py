"""The bundle: whoever knows its manifest and nothing of Python has every schema, and every example in three forms."""

import json
import re
from dataclasses import replace
from hashlib import sha256
from io import BytesIO, StringIO
from zipfile import ZipFile

import avro.io
import avro.schema
import pytest
from fastavro import json_reader, parse_schema

from contracts import TOPICS, ContractError, releases
from contracts.bundle import archive, files
from contracts.examples import codec, examples
from contracts.topic import DATA

from .small_contracts import KNOCKED, SMALL


@pytest.fixture(scope="module")
def bundle():
    """Every file of it, as unzip gives them."""
    with ZipFile(BytesIO(archive(files(TOPICS, DATA)))) as packed:
        return {path: packed.read(path) for path in packed.namelist()}


@pytest.fixture(scope="module")
def manifest(bundle):
    return json.loads(bundle["manifest.json"])


def test_the_manifest_names_every_other_file_with_its_hash(bundle, manifest):
    """And those files are the topics', the schemas' and the examples'."""
    assert manifest["files"] == {
        path: sha256(content).hexdigest() for path, content in bundle.items() if path != "manifest.json"
    }
    described = {
        path
        for topic in manifest["topics"].values()
        for path in [
            topic["file"],
            *(version["schema"] for version in topic["versions"]),
            *(
                each[form]
                for it in topic["versions"]
                for each in it["examples"]
                for form in ("json", "bare", "confluent")
            ),
        ]
    }
    assert described == manifest["files"].keys()
    assert manifest["version"] == releases.version(DATA)
    assert manifest["topics"].keys() == TOPICS.keys()


def test_it_is_the_same_whenever_it_is_made():
    """So a hash pins it."""
    assert archive(files(TOPICS, DATA)) == archive(files(TOPICS, DATA))


def test_its_schemas_are_the_released_ones(bundle, manifest, topic):
    """Byte for byte, under the numbers that the registry has for them."""
    versions = manifest["topics"][topic.name]["versions"]
    assert [bundle[it["schema"]].decode() for it in versions] == [it.schema for it in topic.versions]
    assert [it["version"] for it in versions] == [it.number for it in topic.versions]


def test_its_examples_are_ours_in_each_form(bundle, manifest, topic):
    """Avro's JSON as fastavro reads it, bare Avro as Apache's package does, Kafka's bytes as our codec does."""
    ours = iter(examples(topic))
    for version in manifest["topics"][topic.name]["versions"]:
        schema = json.loads(bundle[version["schema"]])
        for each in version["examples"]:
            example = next(ours)
            assert (each["name"], version["version"]) == (example.name, example.version)
            assert next(json_reader(StringIO(bundle[each["json"]].decode()), parse_schema(schema))) == example.record
            bare = avro.io.BinaryDecoder(BytesIO(bundle[each["bare"]]))
            assert avro.io.DatumReader(avro.schema.parse(json.dumps(schema))).read(bare) == example.record
            assert codec(topic).decode(bundle[each["confluent"]]) == example.event
            assert each["partition"] == topic.partition(each["key"])
            assert [*each["headers"].items()] == [(name, it.decode()) for name, it in topic.headers(example.event)]
    assert next(ours, None) is None


def test_a_union_in_its_json_says_which_type_it_is(bundle, manifest):
    """As Java's decoder wants it, and a plain dump of a record does not have it."""
    (version, *_) = manifest["topics"]["FollowChanged"]["versions"]
    (follow, *_) = version["examples"]
    assert json.loads(bundle[follow["json"]])["occurred_at"] == {"long": 1763478000123}


def test_two_examples_that_would_be_one_file_are_refused(tmp_path):
    """Names are for people, and paths are made of them."""
    (tmp_path / "examples").mkdir()
    for link in ("topics", "CHANGELOG.md", "releases.yaml"):
        (tmp_path / link).symlink_to((SMALL if link == "topics" else DATA) / link)
    record = examples(KNOCKED, SMALL)[0].record
    shown = tmp_path / "examples" / KNOCKED.latest.examples_file
    shown.write_text(json.dumps({"a knock": record, "another": record}))
    assert len(files({"Knocked": KNOCKED}, tmp_path)) == 3 + 2 * 3
    shown.write_text(json.dumps({"a knock": record, "A knock!": record}))
    with pytest.raises(ContractError, match=re.escape("examples/Knocked/1/a-knock.json")):
        files({"Knocked": KNOCKED}, tmp_path)


def test_a_topic_that_grew_keeps_its_paths():
    """Its name in Kafka is another, and stands in the manifest."""
    grown = replace(TOPICS["FollowChanged"], name="FollowChanged-2")
    made = files({"FollowChanged": grown}, DATA)
    assert json.loads(made["manifest.json"])["topics"]["FollowChanged"]["name"] == "FollowChanged-2"
    assert "avro/FollowChanged/1.avsc" in made
