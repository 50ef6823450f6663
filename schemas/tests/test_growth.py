"""The steps of CONTRIBUTING, taken in a copy: one more version of every topic, and one more consumer."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from contracts import TOPICS, releases
from contracts.topic import DATA

SCHEMAS = Path(__file__).parents[1]
CONFIGURATION = str(SCHEMAS.parent / "pyproject.toml")
SERVICES = sorted({service for topic in TOPICS.values() for service in (*topic.producers, *topic.consumers)})
FOLDERS = [str(SCHEMAS.parent / service / "tests") for service in SERVICES]
NEWCOMER = "some-worker"
NOTE = {"name": "note", "type": ["null", "string"], "default": None, "doc": "A field of the future."}


@pytest.fixture
def copy(tmp_path):
    """This folder beside folders that have the services' names, without this test."""
    for service in (*SCHEMAS.parent.glob("*/pyproject.toml"), Path(NEWCOMER, "pyproject.toml")):
        (tmp_path / service.parent.name).mkdir()
        (tmp_path / service.parent.name / "pyproject.toml").touch()
    ignore = shutil.ignore_patterns(Path(__file__).name, "__pycache__")
    return shutil.copytree(SCHEMAS, tmp_path / "schemas", symlinks=True, ignore=ignore, dirs_exist_ok=True)


@pytest.fixture
def run(copy):
    """Run a module on the copy."""

    def runs(*arguments):
        command, environment = [sys.executable, "-m", *arguments], {**os.environ, "PYTHONPATH": str(copy / "src")}
        return subprocess.run(command, env=environment, check=False, capture_output=True, text=True)  # noqa: S603

    return runs


def test_a_new_version_and_a_new_consumer_turn_no_test_red(copy, run):
    """Whoever adds one writes the contract's own files, and mends no test of what was there before."""
    for name in TOPICS:
        add_version(copy, name)
        add_consumer(copy, name)
    announce(copy, *(f"{name} {len(topic.versions) + 1}" for name, topic in TOPICS.items()))
    done = run("contracts", "check")
    assert done.returncode == 0, done.stderr
    for name, topic in TOPICS.items():
        assert f"{name}: {len(topic.versions) + 1} version(s)" in done.stdout
    tested = run("pytest", "-q", "-c", CONFIGURATION, "-m", "not stack", str(copy))
    assert tested.returncode == 0, tested.stdout


FAULTS = {
    "FollowChanged.occurred_at: the default null in ": (
        "following: bool\n    occurred_at: int | None = None",
        "following: bool\n    occurred_at: int | None",
    ),
    "FollowChanged.mood is in events.py, and not in ": (
        "    follower_id: str\n",
        "    follower_id: str\n    mood: str\n",
    ),
    "TweetCreated.text is in tweet_created.v": ("    text: str\n", ""),
}


def test_a_class_that_is_not_its_schema_is_named_and_no_test_is_lost(copy, run):
    """All of them are still collected, so that the one which says what is wrong runs."""
    events = copy / "src/contracts/events.py"
    text = events.read_text()
    for written, instead in FAULTS.values():
        assert written in text
        text = text.replace(written, instead, 1)
    events.write_text(text)
    done = run("contracts", "check")
    assert done.returncode == 1
    for said in FAULTS:
        assert [line for line in done.stderr.splitlines() if line.startswith(said)], done.stderr
    collected = run("pytest", "-q", "-c", CONFIGURATION, "--collect-only", str(copy), *FOLDERS)
    assert collected.returncode == 0, collected.stdout[-2000:]


def add_version(schemas, name):
    """Write the next schema, its examples, its entry, and the field in the class."""
    latest = TOPICS[name].latest
    stem = latest.schema_file.replace(f"v{latest.number}.avsc", f"v{latest.number + 1}")
    schema = re.sub(r"\n  \]\n\}\s*$", f",\n    {json.dumps(NOTE)}\n  ]\n}}\n", latest.schema)
    (schemas / f"avro/{stem}.avsc").write_text(schema)
    examples = json.loads((schemas / "examples" / latest.examples_file).read_text())
    noted = {title: record | {"note": "new"} for title, record in examples.items()}
    (schemas / f"examples/{stem}.json").write_text(json.dumps(noted))
    sha256 = hashlib.sha256(schema.encode()).hexdigest()
    path = schemas / f"topics/{name}.yaml"
    entry = yaml.safe_load(path.read_text())
    entry["versions"].append({"schema": f"{stem}.avsc", "sha256": sha256, "examples": f"{stem}.json"})
    entry["personal"]["neither"].append("note")
    path.write_text(yaml.safe_dump(entry, sort_keys=False))
    events = schemas / "src/contracts/events.py"
    fields = re.compile(rf"(class {name}:\n.*?(?:\n    \w+: [^\n]+)+)", re.DOTALL)
    events.write_text(fields.sub(r"\1\n    note: str | None = None", events.read_text()))


def add_consumer(schemas, name):
    """Name it in the topic's file."""
    path = schemas / f"topics/{name}.yaml"
    entry = yaml.safe_load(path.read_text())
    entry["consumers"].append(NEWCOMER)
    path.write_text(yaml.safe_dump(entry, sort_keys=False))


def announce(schemas, *names):
    """Say in the changelog what is new, under a version that is not released."""
    project, changes = schemas / "pyproject.toml", schemas / "CHANGELOG.md"
    was, version = releases.version(DATA), "99.0.0"
    line = f"\n- {', '.join(names)}: `note`."
    if releases.is_released(DATA):
        project.write_text(project.read_text().replace(f'version = "{was}"', f'version = "{version}"'))
        changes.write_text(changes.read_text().replace(f"## {was}", f"## {version}{line}\n\n## {was}", 1))
    else:
        changes.write_text(changes.read_text().replace(f"## {was}", f"## {was}{line}", 1))
