"""Tests in several processes: what shares the stack stays together, and a fault is told as if there were one."""

import os
import subprocess
import sys

import pytest

from murmuration_testkit import REPOSITORY

ADDRESS = "redis://of-the-stack"
TESTS = """
import os
import pytest
from murmuration_testkit import row_guard

@pytest.fixture(autouse=True)
def noted(request):
    seen = os.environ.get("REDIS_URL", "nothing")
    with open("notes", "a") as notes:
        notes.write(f"{request.node.name} {request.path.stem} {os.environ['PYTEST_XDIST_WORKER']} {seen}\\n")

@pytest.mark.stack
@pytest.mark.parametrize("number", range(4))
def test_shares(number):
    pass

@pytest.mark.stack(shared=False)
def test_has_parts_of_its_own():
    pass

def test_needs_no_part():
    pass
"""
FAULTY = """
@pytest.mark.stack
def test_is_wrong():
    assert False

def test_touches_what_is_not_its_own():
    row_guard.violations.append("a-service uses what is not its own")
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run two files of tests in two processes; return what pytest said, and what each test noted."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_one.py").write_text(TESTS)
    (folder / "test_two.py").write_text(TESTS + FAULTY)
    command = [sys.executable, "-m", "pytest", "-n", "2", "-c", str(REPOSITORY / "pyproject.toml"), str(folder)]
    environment = os.environ | {"REDIS_URL": ADDRESS}
    done = subprocess.run(
        [*command, "--rootdir", str(folder), "-p", "no:cacheprovider"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout.splitlines(), [line.split() for line in (folder / "notes").read_text().splitlines()]


def test_each_fault_fails_the_run_under_the_name_of_its_test(ran):
    """A test's own, and what a guard finds after it; the counts are those of all processes."""
    said, _ = ran
    assert any(line.startswith("FAILED test_two.py::test_is_wrong - ") for line in said), said
    assert any(line.startswith("ERROR test_two.py::test_touches_what_is_not_its_own - ") for line in said), said
    assert "1 failed, 13 passed, 1 error in" in said[-1]


def test_what_shares_the_stack_runs_in_one_process(ran):
    """Of whatever file it is: some tests stop or kill what others use."""
    _, notes = ran
    assert len({process for name, _, process, _ in notes if "shares" in name}) == 1


def test_what_else_a_file_has_runs_in_one_process(ran):
    """What its module starts is started once; and two files are in two."""
    _, notes = ran
    processes = {(file, process) for name, file, process, _ in notes if "parts" in name or "needs" in name}
    assert len(processes) == 2
    assert len(dict(processes)) == 2


def test_only_what_shares_the_stack_sees_it(ran):
    """A test that forgets its mark fails, instead of meeting others there."""
    _, notes = ran
    seen = {(name.partition("[")[0], seen) for name, _, _, seen in notes}
    assert seen == {
        ("test_shares", ADDRESS),
        ("test_is_wrong", ADDRESS),
        ("test_has_parts_of_its_own", "nothing"),
        ("test_needs_no_part", "nothing"),
        ("test_touches_what_is_not_its_own", "nothing"),
    }
