"""deploy/released.yaml says what can be run; a release is run from its own tree."""

import subprocess
from dataclasses import replace

import pytest

from murmuration_testkit.released import Release, ReleaseError, checkout, releases
from murmuration_testkit.services import SERVICES

MAKEFILE = """
.venv/bin/ready:
	@mkdir -p .venv/bin && cp version .venv/bin/python && touch $@
"""


def git(directory, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def past(tmp_path):
    """A repository with a release of a-service, and a commit after it."""
    repository = tmp_path / "repository"
    (repository / "a-service").mkdir(parents=True)
    git(repository, "init", "-q")
    for version in ("1.0", "2.0"):
        (repository / "a-service/pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
        (repository / "version").write_text(version)
        (repository / "Makefile").write_text(MAKEFILE)
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", version)
    return repository, Release("a-service", "1.0", git(repository, "rev-parse", "HEAD^"))


def test_only_services_have_releases():
    """A service that was never released is not named yet."""
    assert releases().keys() <= SERVICES.keys()


@pytest.mark.parametrize("release", releases().values(), ids=releases())
def test_a_release_is_in_the_history(release):
    """Its commit has the service, in the version that the file names."""
    release.check()


def test_a_release_runs_from_its_own_tree(past):
    """Code and lock of its commit, not of today; the second time nothing is made anew."""
    repository, release = past
    made = checkout(release, repository)
    assert (made.directory / "version").read_text() == made.python.read_text() == "1.0"
    assert (repository / "version").read_text() == "2.0"
    since = made.python.stat().st_mtime_ns
    assert checkout(release, repository) == made
    assert made.python.stat().st_mtime_ns == since


def test_a_shallow_clone_is_told_to_fetch_the_rest(past, tmp_path):
    """CI clones fully; whoever does not reads what to do."""
    repository, release = past
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "shallow")
    with pytest.raises(ReleaseError, match="git fetch --unshallow"):
        checkout(release, tmp_path / "shallow")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"version": "3.0"}, "a-service is 1.0 at commit .*, not 3.0"), ({"service": "b-service"}, "has no b-service/")],
)
def test_a_release_that_never_was_is_named(past, wrong, said):
    """The file is wrong, and says so before anything is made."""
    repository, release = past
    with pytest.raises(ReleaseError, match=said):
        replace(release, **wrong).check(repository)


@pytest.mark.stack(shared=False)
@pytest.mark.parametrize("release", releases().values(), ids=releases())
def test_a_released_service_can_be_run(release):
    """What it was released with still installs, and it is imported from there and not from here."""
    made = checkout(release)
    package = release.service.replace("-", "_")
    command = [str(made.python), "-c", f"import {package}; print({package}.__file__)"]
    found = subprocess.run(command, cwd=made.directory, check=True, capture_output=True, text=True)
    assert found.stdout.startswith(str(made.directory))
