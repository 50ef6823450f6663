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
def test_shares():
    pass

@pytest.mark.stack(shared=False)
def test_has_parts_of_its_own():
    pass

def test_needs_no_part():
    pass
"""
FAULTY = """
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
    assert "1 failed, 7 passed, 1 error in" in said[-1]


def test_what_shares_the_stack_runs_in_one_process(ran):
    """Of whatever file it is: some tests stop or kill what others use."""
    _, notes = ran
    sharing = [(file, process) for name, file, process, _ in notes if name == "test_shares"]
    assert len({file for file, _ in sharing}) == 2
    assert len({process for _, process in sharing}) == 1


def test_what_else_a_file_has_runs_in_one_process(ran):
    """What its module starts is started once; and two files are in two."""
    _, notes = ran
    processes = {(file, process) for name, file, process, _ in notes if name != "test_shares"}
    assert sorted(file for file, _ in processes) == ["test_one", "test_two"]
    assert len({process for _, process in processes}) == 2


def test_only_what_shares_the_stack_sees_it(ran):
    """A test that forgets its mark fails, instead of meeting others there."""
    _, notes = ran
    assert {seen for name, _, _, seen in notes if name == "test_shares"} == {ADDRESS}
    assert {seen for name, _, _, seen in notes if name != "test_shares"} == {"nothing"}
