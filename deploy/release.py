"""Release one service: its version, its chart's, its changelog, its line in released.yaml, its image and its package.

Rule: two commits. The first has the new version; the second names the first in released.yaml, which is what runs beside
new code from then on. Image and chart are built after both: whatever fails there is repeated with the command that is
named, and no commit need be undone. The gateway and the admin's image are released too, but nothing runs beside them.
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
FOLDERS = {name: name for name in SERVICES} | {"gateway": "deploy/gateway", "admin": "deploy/admin"}
CHARTS = {"admin": ("schemas/chart", "deploy/tables-chart")}  # of the others: the chart in their folder


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


def charts(service: str) -> list[str]:
    """Return the folders of its charts."""
    return list(CHARTS.get(service, (f"{FOLDERS[service]}/chart",)))


def edit(service: str, part: str, why: str, day: str, repository: Path = REPOSITORY) -> str:
    """Write the new version wherever it stands, or nothing at all; return it."""
    project = f"{FOLDERS[service]}/pyproject.toml"
    text = (repository / project).read_text()
    version = raised(tomllib.loads(text)["project"]["version"], part)
    written = {project: replaced(text, r'^version = "(.+)"$', version, project)}
    for chart in (f"{folder}/Chart.yaml" for folder in charts(service)):
        text = replaced((repository / chart).read_text(), r'^appVersion: "?([^"\s]+)"?$', version, chart)
        of_chart = raised(yaml.safe_load(text)["version"], part)
        written[chart] = replaced(text, r"^version: (\S+)$", of_chart, chart)
    changes = f"{FOLDERS[service]}/CHANGELOG.md"
    before = (repository / changes).read_text() if (repository / changes).exists() else ""
    written[changes] = changelog(before, service, version, day, why)
    for name, text in written.items():
        (repository / name).write_text(text)
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
    """Make the commits; return the version."""
    if not why.strip():
        raise ReleaseError("Say in one line what changed: WHY='…'. It goes into the changelog.")
    if _git(repository, "status", "--porcelain"):
        raise ReleaseError("There are changes that are not committed: commit or stash them first.")
    version = edit(service, part, why, datetime.now(UTC).date().isoformat(), repository)
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message", f"Release {service} {version}", "--message", why)
    if service in SERVICES:
        note(service, version, _git(repository, "rev-parse", "HEAD"), repository)
        _git(repository, "commit", "--quiet", "--all", "--message", f"{service} {version} is the released one")
    return version


def build(service: str, version: str, registry: str, repository: Path = REPOSITORY) -> None:
    """Build the image and the charts' packages, and say what to push where."""
    for words in (
        ("images", f"S={service}", f"TAG={version}"),
        *(("package", f"CHART={it}") for it in charts(service)),
    ):
        command = ["make", "--no-print-directory", *words]
        if subprocess.run(command, cwd=repository, check=False).returncode:
            raise ReleaseError(f"{service} {version} is committed; this failed, so repeat it: {' '.join(command)}")
    registry = registry or "HOST/PATH"
    print(f"{service} {version} is released. Push the commits, the image, and what lies in dist/ for it:")
    print(f"  git push\n  make push S={service} TAG={version} REGISTRY={registry}")
    print(f"  helm push dist/CHART-VERSION.tgz oci://{registry}/charts")


def main() -> int:
    """Release what the command line names."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("service", choices=sorted(FOLDERS))
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
