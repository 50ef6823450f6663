"""Release one service: its version, its chart's, its line in released.yaml, its changelog, its image and its package.

Rule: two commits. The first has the new version; the second names the first in released.yaml, which is what runs beside
new code from then on. The image and the chart are built from the first, after both are made: whatever fails there is
repeated with the command that is named, and no commit need be undone.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import yaml

from murmuration_testkit.released import RELEASED, releases
from murmuration_testkit.services import SERVICES

REPOSITORY = Path(__file__).resolve().parents[1]
PARTS = ("major", "minor", "patch")


class ReleaseError(Exception):
    """Why there is no release, and what to do about it."""


def raised(version: str, part: str) -> str:
    """Return the next version: of these three numbers one is raised, and those behind it begin again."""
    numbers = [int(number) for number in version.split(".")]
    place = PARTS.index(part)
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1, *[0] * (2 - place)]))


def replaced(text: str, pattern: str, value: str, where: str) -> str:
    """Put a value in place of the pattern's one group, which must be there once."""
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if len(found) != 1:
        raise ReleaseError(f"{where}: {len(found)} lines look like {pattern}, where one should")
    return text[: found[0].start(1)] + value + text[found[0].end(1) :]


def changelog(before: str, service: str, version: str, day: str, why: str) -> str:
    """Put a release before the others."""
    title = f"# Changes of {service}\n"
    return f"{title}\n## {version} ({day})\n- {why}\n{before.removeprefix(title)}"


def edit(service: str, part: str, why: str, day: str, repository: Path = REPOSITORY) -> str:
    """Write the new version wherever it stands, or nothing at all; return it."""
    project, chart, changes = (
        repository / service / at for at in ("pyproject.toml", "chart/Chart.yaml", "CHANGELOG.md")
    )
    of_project, of_chart = project.read_text(), chart.read_text()
    version = raised(tomllib.loads(of_project)["project"]["version"], part)
    of_project = replaced(of_project, r'^version = "(.+)"$', version, f"{service}/pyproject.toml")
    of_chart = replaced(of_chart, r'^appVersion: "?([^"\s]+)"?$', version, f"{service}/chart/Chart.yaml")
    before = yaml.safe_load(of_chart)["version"]
    of_chart = replaced(of_chart, r"^version: (\S+)$", raised(before, part), f"{service}/chart/Chart.yaml")
    project.write_text(of_project)
    chart.write_text(of_chart)
    changes.write_text(changelog(changes.read_text() if changes.exists() else "", service, version, day, why))
    return version


def note(service: str, version: str, commit: str, repository: Path = REPOSITORY) -> None:
    """Name the release in released.yaml."""
    file = repository / RELEASED
    line = f"{service}: {{version: {version}, commit: {commit}}}"
    text = file.read_text()
    if service in releases(repository):
        file.write_text(replaced(text, rf"^({service}: .*)$", line, RELEASED))
    else:
        file.write_text(f"{text}{line}\n")


def release(service: str, part: str, why: str, repository: Path = REPOSITORY) -> str:
    """Make both commits; return the version."""
    if _git(repository, "status", "--porcelain"):
        raise ReleaseError("There are changes that are not committed: commit or stash them first.")
    version = edit(service, part, why, datetime.now(UTC).date().isoformat(), repository)
    _git(repository, "add", "--all", service)
    _git(repository, "commit", "--quiet", "--message", f"Release {service} {version}", "--message", why)
    note(service, version, _git(repository, "rev-parse", "HEAD"), repository)
    _git(repository, "commit", "--quiet", "--all", "--message", f"{service} {version} is the released one")
    return version


def build(service: str, version: str, registry: str, repository: Path = REPOSITORY) -> None:
    """Build the image and the chart's package, and say what to push where."""
    for words in (("images", f"S={service}", f"TAG={version}"), ("package", f"S={service}")):
        command = ["make", "--no-print-directory", *words]
        if subprocess.run(command, cwd=repository, check=False).returncode:
            raise ReleaseError(f"{service} {version} is committed; this failed, so repeat it: {' '.join(command)}")
    print(f"{service} {version} is released. Push the commits, then the image and the chart:")
    print(f"  git push\n  make push S={service} TAG={version} REGISTRY={registry or 'HOST/PATH'}")


def main() -> int:
    """Release what the command line names."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("service", choices=sorted(SERVICES))
    parser.add_argument("--part", choices=PARTS, default="minor", help="which number of the version is raised")
    parser.add_argument("--why", required=True, help="one line for the changelog")
    parser.add_argument("--registry", default="", help="where images and charts are pushed to")
    asked = parser.parse_args()
    try:
        build(asked.service, release(asked.service, asked.part, asked.why), asked.registry)
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    return 0


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=repository, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
