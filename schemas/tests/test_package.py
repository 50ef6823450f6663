"""The wheel, as another team installs it: alone, into an empty environment, with pytest and nothing of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts import TOPICS
from contracts.examples import examples
from murmuration_testkit import REPOSITORY

SCHEMAS = Path(__file__).parents[1]
LOCK = REPOSITORY / "deploy/local/requirements.txt"
CONSUMER = """
import pytest
from contracts.testing import assert_accepts_all, assert_produces
from contracts.testing import examples_of

def handle(event):
    assert event.occurred_at != {refused}

def test_in_one_call():
    assert_accepts_all(handle, topic="FollowChanged")

def test_what_we_send():
    assert_produces("TweetDeleted", [examples_of("TweetDeleted")[0].event])

@pytest.mark.contract_examples("FollowChanged")
def test_one_by_one(contract_example):
    handle(contract_example.event)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment that has the wheel, and a way to run it."""
    place = tmp_path_factory.mktemp("team")
    uv, environment = str(Path(sys.executable).with_name("uv")), place / "venv"
    inside = environment / "bin/python"

    def run(*words, cwd=place):
        command = [*map(str, words)]
        return subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True, timeout=300)  # noqa: S603

    for command, where in (
        ([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "dist"], SCHEMAS),
        ([uv, "venv", "-q", "--python", sys.executable, environment], place),
    ):
        done = run(*command, cwd=where)
        assert done.returncode == 0, done.stderr
    (wheel,) = (place / "dist").iterdir()
    done = run(uv, "pip", "install", "-q", "--python", inside, "--constraint", LOCK, wheel, "pytest")
    assert done.returncode == 0, done.stderr
    return lambda *words: run(inside, *words)


def test_it_lists_what_there_is(python):
    """With no more than it declares."""
    done = python("-m", "contracts", "list")
    assert done.returncode == 0, done.stderr
    for name in TOPICS:
        assert f"\n{name}: " in done.stdout


@pytest.mark.parametrize(("command", "extra"), [("check", "check"), ("apply", "apply"), ("acls", "apply")])
def test_a_command_that_needs_more_says_what(python, command, extra):
    """In a line, and not by a traceback."""
    done = python("-m", "contracts", command)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"pip install 'event-contracts[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_packs_the_bundle(python, tmp_path):
    """The data of all topics is in the wheel."""
    done = python("-m", "contracts", "bundle", tmp_path)
    assert done.returncode == 0, done.stderr
    assert len([*tmp_path.glob("event-contracts-*.zip")]) == 1


@pytest.mark.parametrize("refused", [-1, 0])
def test_a_teams_own_tests_run_on_it(python, tmp_path, refused):
    """The plugin is on by itself; what a handler refuses fails in the call, and in a test for each such example."""
    (tmp_path / "test_consumer.py").write_text(CONSUMER.format(refused=refused))
    done = python("-m", "pytest", "-q", "-W", "error", "--strict-markers", tmp_path)
    times = [example.event.occurred_at for example in examples(TOPICS["FollowChanged"])]
    failed = times.count(refused) and 1 + times.count(refused)
    assert (refused in times) == (refused == 0)
    assert f"{2 + len(times) - failed} passed" in done.stdout
    assert (f"{failed} failed" in done.stdout) == (failed > 0), done.stdout
