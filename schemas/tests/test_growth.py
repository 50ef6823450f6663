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

from contracts import TOPICS

SCHEMAS = Path(__file__).parents[1]
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


def test_a_new_version_and_a_new_consumer_turn_no_test_red(copy):
    """Whoever adds one writes the contract's own files, and mends no test of what was there before."""
    for name in TOPICS:
        add_version(copy, name)
        add_consumer(copy, name)

    def run(*arguments):
        command, environment = [sys.executable, "-m", *arguments], {**os.environ, "PYTHONPATH": str(copy / "src")}
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)  # noqa: S603
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    checked = run("contracts", "check")
    for name, topic in TOPICS.items():
        assert f"{name}: {len(topic.versions) + 1} version(s)" in checked
    run("pytest", "-q", "-c", str(SCHEMAS.parent / "pyproject.toml"), "-m", "not stack", str(copy))


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
    with (schemas / f"topics/{name}.yaml").open("a") as file:
        file.write(f"  - schema: {stem}.avsc\n    sha256: {sha256}\n    examples: {stem}.json\n")
    events = schemas / "src/contracts/events.py"
    fields = re.compile(rf"(class {name}:\n.*?(?:\n    \w+: [^\n]+)+)", re.DOTALL)
    events.write_text(fields.sub(r"\1\n    note: str | None = None", events.read_text()))


def add_consumer(schemas, name):
    """Name it in the topic's file."""
    path = schemas / f"topics/{name}.yaml"
    entry = yaml.safe_load(path.read_text())
    entry["consumers"].append(NEWCOMER)
    path.write_text(yaml.safe_dump(entry, sort_keys=False))
