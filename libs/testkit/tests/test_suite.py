"""The runner of benchmarks and drills, on a tree of its own: files that are fine, raise, exit, or never end."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from murmuration_testkit.suite import Suite, main
from murmuration_testkit.waiting import eventually

SUITE = Suite("bench", "bench", "BENCHMARKS", lambda found: found["name"], lambda _: [], lambda found: found["good"])
FINE = """
import os

def fine():
    os.environ["LEFT_BEHIND"] = "yes"
    return {"name": "fine", "good": True, "left": os.environ.get("LEFT_BEHIND")}

STACK = ""
BENCHMARKS = [fine]
"""
LATER = FINE.replace('    os.environ["LEFT_BEHIND"] = "yes"\n', "").replace('"fine"', '"later"')
RAISES = """
def raises():
    raise ValueError("not today")

def goes_on():
    return [{"name": "one", "good": True}, {"name": "two", "good": True}]

STACK = ""
BENCHMARKS = [raises, goes_on]
"""
EXITS = """
import sys

STACK = ""
BENCHMARKS = [lambda: {"name": "before", "good": True}, lambda: sys.exit(3)]
"""
HANGS = """
import os, subprocess, time

def hangs():
    with open("pids", "w") as pids:
        print(os.getpid(), subprocess.Popen(["sleep", "600"]).pid, file=pids)
    time.sleep(600)

STACK = ""
TIME_LIMIT_S = 2
BENCHMARKS = [hangs]
"""
LEAVES = """
import os

STACK = ""
BENCHMARKS = [lambda: os._exit(0)]
"""
BROKEN = """
STACK = ""
BENCHMARKS = [
"""
WITH_NEIGHBOUR = """
from .numbers_of_ours import NUMBER

def counted():
    return {"name": f"number {NUMBER}", "good": True}

STACK = ""
BENCHMARKS = [counted]
"""
STACK_PY = """
import os, sys
asked, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
with open("stacks", "a") as stacks:
    print(*asked, file=stacks)
os.execv(command[0], command)
"""
BAD = FINE.replace("True", "False")


@pytest.fixture
def tree(tmp_path):
    """Write the files of a service's bench folder in a repository of its own, and run them."""
    bench = tmp_path / "some-service/bench"
    bench.mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)

    def run(*words, **files):
        for name, text in files.items():
            (bench / f"{name}.py").write_text(text)
        code = main(SUITE, ["--json", str(tmp_path / "report.json"), *words], tmp_path)
        report = tmp_path / "report.json"
        return code, json.loads(report.read_text()) if report.exists() else None

    return run


def lives(pid):
    """Tell whether a process runs; one that only waits to be asked how it ended does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def failures(report):
    return {Path(failure["file"]).stem: failure["why"] for failure in report["failures"]}


def test_whatever_a_file_does_the_others_run(tree, capsys):
    """A failure is a line of the summary and a non-zero exit; what had been measured until then is kept."""
    code, report = tree(
        a_raises=RAISES, b_exits=EXITS, c_hangs=HANGS, d_leaves=LEAVES, e_broken=BROKEN, f_fine=FINE, g_later=LATER
    )
    assert code == 1
    assert [found["name"] for found in report["results"]] == ["one", "two", "before", "fine", "later"]
    assert failures(report) == {
        "a_raises": "raises: ValueError: not today",
        "b_exits": "exit code 3",
        "c_hangs": "not finished within its time limit of 2 s",
        "d_leaves": "ended before all of it had run",
        "e_broken": "exit code 1",
    }
    summary = capsys.readouterr().out.partition("\nSummary\n")[2]
    for line in ("FAILED some-service/bench/b_exits.py: exit code 3", "  later"):
        assert line in summary


def test_a_file_that_hangs_leaves_no_process_behind(tree, tmp_path):
    """Neither its own nor what it started."""
    tree(hangs=HANGS)
    pids = (tmp_path / "pids").read_text().split()
    eventually(lambda: [pid for pid in pids if lives(pid)], [], within=10)


def test_each_file_has_an_environment_of_its_own(tree):
    """What one changes, the next does not see."""
    code, report = tree(a_fine=FINE, b_later=LATER)
    assert code == 0
    assert [found["left"] for found in report["results"]] == ["yes", None]


def test_the_report_says_what_it_was_measured_on(tree):
    """Machine, commit, load and date: without them a figure is a rumour."""
    _, report = tree(fine=FINE)
    assert report["machine"]["cores"] == os.cpu_count()
    assert report["machine"]["cpu"]
    assert report["machine"]["memory_gb"] > 0
    assert len(report["commit"]) == 40
    assert report["dirty"] is True
    assert len(report["load_before"]) == len(report["load_after"]) == 3
    assert report["date"].endswith("Z")
    assert report["seconds"].keys() == {"some-service/bench/fine.py"}
    assert report["results"][0]["file"] == "some-service/bench/fine.py"


def test_each_file_has_the_stack_that_it_names(tree, tmp_path):
    """All processes, some, or no stack at all; under a name of its own."""
    (tmp_path / "deploy/local").mkdir(parents=True)
    (tmp_path / "deploy/local/stack.py").write_text(STACK_PY)
    whole, some = FINE.replace('STACK = ""\n', ""), FINE.replace('STACK = ""', 'STACK = "kafka,redis"')
    assert tree(a_whole=whole, b_some=some, c_none=FINE)[0] == 0
    asked = (tmp_path / "stacks").read_text().splitlines()
    assert asked == ["run --name bench-a_whole", "run --name bench-b_some --only kafka,redis"]


def test_a_result_that_is_not_good_fails_the_run(tree):
    """A drill that found a difference, for one."""
    assert tree(bad=BAD)[0] == 1


def test_a_folder_may_have_a_script_of_its_own_name_beside_it(tree, tmp_path):
    """As e2e-tests has bench.py, which runs what is in bench."""
    (tmp_path / "some-service/bench.py").touch()
    assert tree(fine=FINE)[0] == 0


def test_files_can_be_chosen_and_helpers_are_none(tree, capsys):
    """By a part of the name; a file without a list is its neighbours' helper, and they import it."""
    code, report = tree("count", counts=WITH_NEIGHBOUR, numbers_of_ours="NUMBER = 7\n", raises=RAISES)
    assert (code, [found["name"] for found in report["results"]]) == (0, ["number 7"])
    assert tree("nothing")[0] == 2
    assert "there are: counts, raises" in capsys.readouterr().err
