"""Release services: versions, charts' versions, changelogs, lines in released.yaml, images and charts' packages.

Rule: two commits. The first has the new versions; the second names the first in released.yaml: what runs beside new
code from then on. Images and charts are built after both: whatever fails there is repeated with the commands that are
named, and no commit need be undone. The gateway and the admin's image are released too, but nothing runs beside them.
With the gateway its OpenAPI document is released: only a major release may break what the last one promised.
The contracts (`schemas`) have no image and no chart, and a version that was raised with what changed in them.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml

from contracts import releases as contract_releases
from contracts import table_files, topic
from murmuration_testkit.breaking_changes import breaking_changes
from murmuration_testkit.released import RELEASED, releases
from murmuration_testkit.services import SERVICES

REPOSITORY = Path(__file__).resolve().parents[1]
PARTS = ("major", "minor", "patch")
SUBJECT = 72
CONTRACTS = "schemas"
FOLDERS = {name: name for name in SERVICES} | {
    "gateway": "deploy/gateway",
    "admin": "deploy/admin",
    "suggestions": "suggestions",
    CONTRACTS: CONTRACTS,
}
CHARTS = {"admin": ("schemas/chart", "deploy/tables-chart"), CONTRACTS: ()}  # every other has its chart in its folder
API = "deploy/gateway/src/murmuration_gateway/openapi.json"
RELEASED_API = "deploy/gateway/released-openapi.json"
NEVER_CAME = {  # what the released document promises by mistake: these two take no cursor; goes with the next release
    f"GET /v1/{each}: 400: the code bad-cursor is no longer answered" for each in ("users", "tweets")
}


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
    if service == CONTRACTS and not contract_releases.is_released(repository / CONTRACTS):
        return note_contracts(contract_releases.version(repository / CONTRACTS), repository)
    project = f"{FOLDERS[service]}/pyproject.toml"
    text = (repository / project).read_text()
    version = raised(tomllib.loads(text)["project"]["version"], part)
    written = {project: replaced(text, r'^version = "(.+)"$', version, project)}
    for chart in (f"{folder}/Chart.yaml" for folder in charts(service)):
        text = replaced((repository / chart).read_text(), r'^appVersion: "?([^"\s]+)"?$', version, chart)
        of_chart = raised(yaml.safe_load(text)["version"], part)
        written[chart] = replaced(text, r"^version: (\S+)$", of_chart, chart)
    if service == "gateway":
        written[RELEASED_API] = api(part, repository)
    changes = f"{FOLDERS[service]}/CHANGELOG.md"
    before = (repository / changes).read_text() if (repository / changes).exists() else ""
    written[changes] = changelog(before, service, version, day, why)
    for name, text in written.items():
        (repository / name).write_text(text)
    return note_contracts(version, repository) if service == CONTRACTS else version


def note_contracts(version: str, repository: Path) -> str:
    """Note the fingerprints of the contracts under this version, which the changelog begins with; return it."""
    data = repository / CONTRACTS
    now = contract_releases.contracts(topic.load(data), table_files.load(data))
    if faults := [*contract_releases.findings(now, data)]:
        raise ReleaseError("\n".join(faults))
    (data / contract_releases.FILE).write_text(contract_releases.noted(version, now, data))
    return version


def broken(repository: Path = REPOSITORY) -> list[str]:
    """Return what of the released API the present one breaks."""
    found = breaking_changes(*(json.loads((repository / each).read_text()) for each in (RELEASED_API, API)))
    return [each for each in found if each not in NEVER_CAME]


def api(part: str, repository: Path) -> str:
    """Return the API's document as it is released."""
    breaks = broken(repository)
    if breaks and part != "major":
        lines = "".join(f"\n  {each}" for each in breaks)
        raise ReleaseError(f"The API breaks what was released. Mend it, or release with PART=major:{lines}")
    return (repository / API).read_text()


def note(service: str, version: str, commit: str, repository: Path = REPOSITORY) -> None:
    """Name the release in released.yaml."""
    file = repository / RELEASED
    line = f"{service}: {{version: {version}, commit: {commit}}}"
    text = file.read_text()
    if service in releases(repository):
        file.write_text(replaced(text, rf"^({service}: .*)$", line, RELEASED))
    else:
        file.write_text(f"{text}{line}\n")


def release(services: Sequence[str], part: str, why: str, repository: Path = REPOSITORY) -> dict[str, str]:
    """Make the commits; return the versions."""
    if not why.strip():
        raise ReleaseError("Say in one line what changed: WHY='…'. It goes into the changelog.")
    if _git(repository, "status", "--porcelain"):
        raise ReleaseError("There are changes that are not committed: commit or stash them first.")
    day = datetime.now(UTC).date().isoformat()
    versions = {service: edit(service, part, why, day, repository) for service in services}
    told = ", ".join(f"{service} {version}" for service, version in versions.items())
    _git(repository, "add", "--all")
    _git(repository, "commit", "--quiet", "--message", _subject("Release", told), "--message", f"{told}\n\n{why}")
    commit = _git(repository, "rev-parse", "HEAD")
    noted = [service for service in services if service in SERVICES]
    for service in noted:
        note(service, versions[service], commit, repository)
    if noted:
        _git(repository, "commit", "--quiet", "--all", "--message", _subject("Name the release of", ", ".join(noted)))
    return versions


def build(versions: Mapping[str, str], registry: str, repository: Path = REPOSITORY) -> None:
    """Build the images and the contracts' files, pack the charts, and say what to push where."""
    registry = registry or "HOST/PATH"
    packed = [chart for service in versions for chart in charts(service)]
    images = {service: version for service, version in versions.items() if service != CONTRACTS}
    commands = [
        *(["make", "contracts"] for service in versions if service == CONTRACTS),
        *(["make", "images", f"S={service}", f"TAG={version}"] for service, version in images.items()),
        *(["make", "package", f"CHART={chart}"] for chart in packed),
    ]
    for number, command in enumerate(commands):
        if subprocess.run(command, cwd=repository, check=False).returncode:
            left = "".join(f"\n  {' '.join(words)}" for words in commands[number:])
            raise ReleaseError(f"The versions are committed; the build failed. When that is mended, run:{left}")
    print("Released. Push the commits, the images and the charts:\n  git push")
    if CONTRACTS in versions:
        print(f"  dist/event[-_]contracts-{versions[CONTRACTS]}*, to where teams fetch packages")
    for service, version in images.items():
        print(f"  make push S={service} TAG={version} REGISTRY={registry}")
    for chart in packed:
        described = yaml.safe_load((repository / chart / "Chart.yaml").read_text())
        print(f"  helm push dist/{described['name']}-{described['version']}.tgz oci://{registry}/charts")


def main() -> int:
    """Release what the command line names."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("services", nargs="+", choices=sorted(FOLDERS), metavar="SERVICE")
    parser.add_argument("--part", choices=PARTS, default="minor", help="which number of the version is raised")
    parser.add_argument("--why", required=True, help="one line for the changelog")
    parser.add_argument("--registry", default="", help="where images and charts are pushed to")
    asked = parser.parse_args()
    try:
        build(release(asked.services, asked.part, asked.why), asked.registry)
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    return 0


def _subject(does: str, services: str) -> str:
    """Return a commit's subject of at most 72 characters."""
    whole = f"{does} {services}"
    return whole if len(whole) <= SUBJECT else f"{does} {services.count(',') + 1} services"


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=repository, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
