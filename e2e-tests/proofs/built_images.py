"""Every image is built, holds what its service may import and nothing else, and runs on a root that is read-only.

What is in an image is asked of the image itself, by a script on the standard input of its Python. IMAGE_TOOL names the
tool, BUILD_FLAGS and RUN_FLAGS have what it needs on this machine: see deploy/images/README.md.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from murmuration_testkit import REPOSITORY
from murmuration_testkit.people import Person, send
from murmuration_testkit.ports import free_ports
from murmuration_testkit.services import SERVICES
from murmuration_testkit.waiting import eventually

sys.path.insert(0, str(REPOSITORY / "deploy"))
from images.build import FOLDERS, PREFIX, Image, Tool

TIME_LIMIT_S = 3_600
HANDED_ON = (
    *("AWS_", "HOST", "JWT_", "KAFKA_BOOTSTRAP_", "LIMIT", "NO_PROXY", "REDIS_URL", "SCHEMA_REGISTRY_"),
    *("SUGGESTIONS_REDIS_URL", "TABLE_PREFIX"),
)
PROGRAMS = {"chmod", "nginx", "python3.11"}
FORBIDDEN = {"murmuration_testkit", "pip", "pytest", "setuptools", "test", "tests"}
WRITABLE = ["/dev/shm", "/tmp"]  # noqa: S108 - these two, and no more
LOOK = f"""
import importlib.metadata, json, os, pathlib, stat
def is_writable(folder):
    try:
        pathlib.Path(folder, "probe").touch()
    except OSError:
        return False
    return True
paths = [path for top in ("/usr", "/etc", "/opt", "/var") for path in pathlib.Path(top).rglob("*")]
library = set(pathlib.Path(os.__file__).parent.rglob("*"))
files = [path for path in paths if path.is_file() and not path.is_symlink()]
print(json.dumps({{
    "distributions": {{each.name: each.version for each in importlib.metadata.distributions()}},
    "modules": sorted(path.name for path in pathlib.Path("/app/lib/python3.11/site-packages").iterdir()),
    "programs": [str(f) for f in files if f.stat().st_mode & 0o111 and ".so" not in f.name and f not in library],
    "setuid": [str(f) for f in files if f.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)],
    "user": [os.getuid(), os.getgid()],
    "writable": [f for f in ["/", "/app", "/etc", "/usr", "/var", *{WRITABLE}] if is_writable(f)],
    "bom": json.loads(pathlib.Path("/app/sbom.cdx.json").read_text()),
    "commit": os.environ["BUILD_COMMIT"],
}}))
"""


def dockerfile() -> dict[str, Any]:
    """Have the linter of Dockerfiles find nothing."""
    subprocess.run(["make", "-s", ".stack/tools/ready"], cwd=REPOSITORY, check=True)
    found = _said(".stack/tools/bin/hadolint", "--no-color", "deploy/images/Dockerfile")
    return _outcome("hadolint", "no fault", "its findings with none", found.stdout.splitlines(), "one Dockerfile")


def locks() -> dict[str, Any]:
    """Make each lock again: nothing was missing, nothing is left over."""
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        clone = Path(directory) / "clone"
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
        (clone / ".venv").symlink_to(REPOSITORY / ".venv")
        made = _said("make", "-s", "lock", "KEEP=1", cwd=clone)
        changed = _said("git", "diff", "--stat", "--", "*requirements.txt", cwd=clone).stdout.splitlines()
    failed = [f"make lock KEEP=1: {made.stderr[-300:]}"] if made.returncode else []
    return _outcome(
        "locks", "made again in a clone", "each requirements.txt with itself", [*changed, *failed], "all locks"
    )


def images() -> list[dict[str, Any]]:
    """Build each, look into it, start it beside the stack's own processes, and ask how it is."""
    tool = Tool()
    return [_tried(tool, image) for image in map(Image, FOLDERS)]


def _tried(tool: Tool, image: Image) -> dict[str, Any]:
    reference = f"{PREFIX}{image.name}:proof"
    if tool.inputs(reference) != image.inputs():
        tool.build(image, reference)
    found = _look(tool, reference)
    differences = [*_contents(image, found), *_labels(tool, image, reference, found)]
    match image.name:
        case "admin":
            differences += _answers_of_admin(tool, reference)
        case "suggestions":
            differences += _run_of_suggestions(tool, reference)
        case _:
            differences += _running(tool, image, reference)
    in_it = f"{len(found['distributions'])} distributions, {len(found['bom']['components'])} entries in the SBOM"
    return _outcome(
        f"image {image.name}",
        "a root that is read-only, no capabilities",
        "what is in it with its lock and projects; its labels; what it answers, or what its run has people shown",
        differences,
        f"{tool.size(reference)}, {in_it}",
    )


def _contents(image: Image, found: dict[str, Any]) -> Iterator[str]:
    expected = _locked(image) | dict(map(_project, image.projects()))
    installed = {str(canonicalize_name(name)): version for name, version in found["distributions"].items()}
    for name in sorted(expected.keys() | installed.keys()):
        if expected.get(name) != installed.get(name):
            yield f"{name}: {installed.get(name)} is in the image, its lock and projects say {expected.get(name)}"
    others = {service.package for service in SERVICES.values() if service.name != image.name}
    yield from (f"it has the package {name}" for name in sorted((FORBIDDEN | others) & set(found["modules"])))
    yield from (f"it has the program {path}" for path in found["programs"] if Path(path).name not in PROGRAMS)
    yield from (f"{path} has rights that its caller lacks" for path in found["setuid"])
    if found["user"] != [10001, 10001] or found["writable"] != WRITABLE:
        yield f"it runs as {found['user']} and may write to {found['writable']}"
    listed = {canonicalize_name(each["name"]) for each in found["bom"]["components"]}
    listed.add(canonicalize_name(found["bom"]["metadata"]["component"]["name"]))
    yield from (f"its SBOM lacks {name}" for name in (*installed, "libc6", "python") if name not in listed)


def _labels(tool: Tool, image: Image, reference: str, found: dict[str, Any]) -> Iterator[str]:
    labels, commit = tool.labels(reference), image.commit()
    expected = {"title": f"murmuration/{image.name}", "version": image.version, "revision": commit}
    for name, value in {**expected, "licenses": "Apache-2.0"}.items():
        given = labels.get(f"org.opencontainers.image.{name}")
        if given != value:
            yield f"its label {name} is {given!r}, not {value!r}"
    if tool.inputs(reference) != image.inputs():
        yield "it would be built again, though nothing has changed"
    if found["commit"] != commit:
        yield f"BUILD_COMMIT is {found['commit']!r}, not {commit!r}"


def _running(tool: Tool, image: Image, reference: str) -> Iterator[str]:
    """Start what it starts by itself; it must get well, and name its commit."""
    port, admin_port = free_ports(2)
    settings = {"PORT": str(port), "ADMIN_PORT": str(admin_port)}
    for edge in (service for service in SERVICES.values() if service.is_edge and image.name == "gateway"):
        process = edge.processes[0]
        settings[process.stem] = f"127.0.0.1:{os.environ[process.port_variable('PORT')]}"
    with _started(tool, _run(tool, reference, settings=settings)) as process_of_it:

        def answer() -> str:
            assert process_of_it.poll() is None, f"it ended with {process_of_it.returncode}"
            try:
                for page in ("healthz", "metrics"):
                    with urllib.request.urlopen(f"http://127.0.0.1:{admin_port}/{page}", timeout=5) as got:
                        said = str(got.read().decode())
            except OSError:
                return ""
            return said

        try:
            metrics = eventually(answer, within=120)
        except AssertionError as error:
            yield f"it does not become healthy: {error}"
            return
    if f'commit="{image.commit()}"' not in metrics:
        yield "its build_info does not name its commit"


def _answers_of_admin(tool: Tool, reference: str) -> Iterator[str]:
    for command in ("python -m contracts check", "python /app/deploy/tables.py status"):
        done = _said(*_run(tool, reference, *command.split()))
        if done.returncode:
            yield f"{command} ended with {done.returncode}: {done.stderr[-300:]}"


def _run_of_suggestions(tool: Tool, reference: str) -> Iterator[str]:
    """Run the job once for a town of three: Ann, who follows Bob, who follows Cleo, is shown Cleo by that run."""
    ann, bob, cleo = (Person(name).join() for name in ("Ann", "Bob", "Cleo"))
    ann.follow(bob)
    bob.follow(cleo)
    done = _said(*_run(tool, reference, settings={"SUGGESTIONS_FOLDER": "file:///tmp/runs"}))
    if done.returncode:
        yield f"its run ended with {done.returncode}: {done.stderr[-300:]}"
        return
    answer = send("GET", "/v1/suggestions", headers=ann.headers)
    source, shown = answer.headers["Suggestions-From"], answer.data.decode()
    if source != "run" or cleo.user_id not in shown:
        yield f"Ann is not shown Cleo by its run, but {source}: {shown[:300]}"


def _look(tool: Tool, reference: str) -> dict[str, Any]:
    command = _run(tool, reference, "python", "-")
    said = subprocess.run(command, input=LOOK, text=True, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(said.stdout))


def _run(tool: Tool, reference: str, *command: str, settings: dict[str, str] | None = None) -> list[str]:
    given = {name: value for name, value in os.environ.items() if name.startswith(HANDED_ON)} | (settings or {})
    words = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    safe = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--network", "host", "--rm", "-i"]  # noqa: S108
    return [tool.runner, "run", *safe, *shlex.split(os.environ.get("RUN_FLAGS", "")), *words, reference, *command]


@contextmanager
def _started(tool: Tool, command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a container that is gone afterwards; it must follow a SIGTERM."""
    name = f"proof-{os.getpid()}"
    process = subprocess.Popen([*command[:2], "--name", name, *command[2:]], stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(90)
        except subprocess.TimeoutExpired:
            subprocess.run([tool.runner, "kill", name], check=False)
            raise


def _locked(image: Image) -> dict[str, str]:
    """Return what its lock installs on this machine."""
    lines = (REPOSITORY / image.folder / "requirements.txt").read_text().splitlines()
    asked = [Requirement(line.rstrip("\\ ")) for line in lines if line[:1].isalnum()]
    here = [each for each in asked if each.marker is None or each.marker.evaluate()]
    return {str(canonicalize_name(each.name)): next(iter(each.specifier)).version for each in here}


def _project(folder: str) -> tuple[str, str]:
    project = tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())["project"]
    return canonicalize_name(project["name"]), str(project["version"])


def _said(*command: str, cwd: Path = REPOSITORY) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def _outcome(name: str, faults: str, compared: str, differences: list[str], counts: str) -> dict[str, Any]:
    return {"name": name, "faults": faults, "compared": compared, "differences": differences, "counts": counts}


PROOFS = [dockerfile, locks, images]
