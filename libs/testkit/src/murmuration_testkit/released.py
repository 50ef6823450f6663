"""The last release of each service, run from its own commit with its own lock, beside the code of today."""

import fcntl
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import yaml

from murmuration_testkit import REPOSITORY

RELEASED = "deploy/released.yaml"


class ReleaseError(Exception):
    """What is wrong with a release, and what to do about it."""


@dataclass(frozen=True)
class Release:
    """One service's last release."""

    service: str
    version: str
    commit: str

    def check(self, repository: Path = REPOSITORY) -> None:
        """Fail unless the commit is there, and has the service in this version."""
        if _git(repository, "cat-file", "-e", f"{self.commit}^{{commit}}").returncode:
            raise ReleaseError(
                f"{RELEASED}: {self.service} {self.version} was released from commit {self.commit}, which this clone"
                " does not have. If it is a shallow clone, fetch the rest: git fetch --unshallow"
            )
        found = _git(repository, "show", f"{self.commit}:{self.service}/pyproject.toml")
        if found.returncode:
            raise ReleaseError(f"{RELEASED}: commit {self.commit} has no {self.service}/pyproject.toml")
        version = tomllib.loads(found.stdout)["project"]["version"]
        if version != self.version:
            raise ReleaseError(
                f"{RELEASED}: {self.service} is {version} at commit {self.commit}, not {self.version}: correct the file"
            )


@dataclass(frozen=True)
class Checkout:
    """A working tree at a release's commit: run `python` in `directory`."""

    directory: Path
    python: Path


def releases(repository: Path = REPOSITORY) -> dict[str, Release]:
    """Return the last release of each service, by its name."""
    stated = yaml.safe_load((repository / RELEASED).read_text())
    return {service: Release(service, str(each["version"]), each["commit"]) for service, each in stated.items()}


def checkout(release: Release, repository: Path = REPOSITORY) -> Checkout:
    """Make a git worktree at the release's commit, with a venv of its own lock; the second time it is there."""
    release.check(repository)
    directory = repository / ".stack/released" / release.commit
    directory.parent.mkdir(parents=True, exist_ok=True)
    with directory.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / ".git").exists():
            _succeed(_git(repository, "worktree", "add", "--force", "--detach", str(directory), release.commit))
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        make = ["make", "--silent", ".venv/bin/ready"]  # as that commit installs itself
        _succeed(subprocess.run(make, cwd=directory, env=ours, check=False, capture_output=True, text=True))
    return Checkout(directory, directory / ".venv/bin/python")


def _git(repository: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=repository, check=False, capture_output=True, text=True)


def _succeed(done: "subprocess.CompletedProcess[str]") -> None:
    if done.returncode:
        raise ReleaseError(f"{' '.join(done.args)} failed:\n{done.stdout}{done.stderr}")
