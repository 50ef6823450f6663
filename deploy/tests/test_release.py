"""A release raises a version everywhere it stands, and names the commit that has it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import release
import yaml

from contracts import releases, table_files, topic

PROJECT = '[project]\nname = "a-service"\nversion = "0.9.1"\n'
CHART = 'apiVersion: v2\nname: a-service\nversion: 1.2.3\nappVersion: "0.9.1"\n'
WHY = "Follows are answered sooner."


def git(directory, *words):
    return subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one service that was released before."""
    monkeypatch.setitem(release.FOLDERS, "a-service", "a-service")
    monkeypatch.setitem(release.SERVICES, "a-service", None)
    (tmp_path / "a-service/chart").mkdir(parents=True)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "a-service/pyproject.toml").write_text(PROJECT)
    (tmp_path / "a-service/chart/Chart.yaml").write_text(CHART)
    (tmp_path / release.RELEASED).write_text("# Releases.\na-service: {version: 0.9.1, commit: abc}\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "before")
    return tmp_path


@pytest.mark.parametrize(("part", "version"), [("major", "1.0.0"), ("minor", "0.10.0"), ("patch", "0.9.2")])
def test_a_version_is_raised_in_one_place(part, version):
    """What stands behind the raised number begins again."""
    assert release.raised("0.9.1", part) == version


def test_the_named_commit_has_the_version(repository):
    """The second commit names the first, in which project, chart and changelog agree."""
    assert release.release(["a-service"], "minor", WHY, repository) == {"a-service": "0.10.0"}
    named = yaml.safe_load((repository / release.RELEASED).read_text())["a-service"]
    assert named == {"version": "0.10.0", "commit": git(repository, "rev-parse", "HEAD^")}

    def then(path):
        return git(repository, "show", f"{named['commit']}:a-service/{path}")

    assert 'version = "0.10.0"' in then("pyproject.toml")
    assert yaml.safe_load(then("chart/Chart.yaml")) | {} == {
        "apiVersion": "v2", "name": "a-service", "version": "1.3.0", "appVersion": "0.10.0",
    }  # fmt: skip
    assert f"- {WHY}" in then("CHANGELOG.md")
    assert git(repository, "status", "--porcelain") == ""


def test_the_newest_release_stands_first_in_the_changelog(repository):
    """The title stands once, above it."""
    for _ in range(2):
        release.release(["a-service"], "patch", WHY, repository)
    lines = (repository / "a-service/CHANGELOG.md").read_text().splitlines()
    assert [line.split(" (")[0] for line in lines if line.startswith("#")] == [
        "# Changes of a-service", "## 0.9.3", "## 0.9.2",
    ]  # fmt: skip


def test_the_api_keeps_what_was_released():
    """A client that was built on the released document goes on working: docs/clients.md promises it."""
    assert release.broken() == [], "the API breaks clients: mend it, or make a major release of the gateway"


@pytest.fixture
def gateway(repository, monkeypatch):
    """The service is the gateway, and its API has lost a path since the last release."""
    monkeypatch.setitem(release.FOLDERS, "gateway", "a-service")
    for name, paths in ((release.API, {}), (release.RELEASED_API, {"/v1/things": {"get": {}}})):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(json.dumps({"paths": paths}))
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "an API")
    return repository


def test_only_a_major_release_of_the_gateway_breaks_clients(gateway):
    """Any other is refused with what it would break; a major one is what clients are promised from then on."""
    with pytest.raises(release.ReleaseError, match="GET /v1/things: is no longer there"):
        release.release(["gateway"], "minor", WHY, gateway)
    assert git(gateway, "status", "--porcelain") == ""
    release.release(["gateway"], "major", WHY, gateway)
    assert (gateway / release.RELEASED_API).read_text() == (gateway / release.API).read_text()


def test_nothing_is_released_over_changes_that_are_not_committed(repository):
    """Nobody could tell later what was in it."""
    (repository / "a-service/pyproject.toml").write_text(PROJECT + "# half a thought\n")
    with pytest.raises(release.ReleaseError, match="commit or stash"):
        release.release(["a-service"], "minor", WHY, repository)


def test_a_chart_that_cannot_be_raised_is_named(repository):
    """A file that looks otherwise than a release expects stops it with its name, before anything is written."""
    (repository / "a-service/chart/Chart.yaml").write_text(CHART.replace("appVersion", "app"))
    git(repository, "commit", "-qam", "a chart without its app's version")
    with pytest.raises(release.ReleaseError, match=r"Chart\.yaml: 0 lines"):
        release.release(["a-service"], "minor", WHY, repository)
    assert git(repository, "status", "--porcelain") == ""


def test_a_build_that_fails_is_named_with_its_command(repository, capsys):
    """The commits stand; only what failed is repeated. A build that succeeds says what to push."""
    makefile = Path(repository / "Makefile")
    makefile.write_text("images:\n\t@echo $(S) $(TAG) > built\npackage:\n\t@exit 1\n")
    with pytest.raises(release.ReleaseError, match=r"run:\n  make package CHART=a-service/chart$"):
        release.build({"a-service": "0.10.0"}, "", repository)
    assert (repository / "built").read_text() == "a-service 0.10.0\n"
    makefile.write_text("images package:\n\t@true\n")
    release.build({"a-service": "0.10.0"}, "registry.example/murmuration", repository)
    said = capsys.readouterr().out
    assert "make push S=a-service TAG=0.10.0 REGISTRY=registry.example/murmuration\n" in said
    assert "helm push dist/a-service-1.2.3.tgz oci://registry.example/murmuration/charts\n" in said


@pytest.fixture
def contracts(repository):
    """A repository with our contracts, of which nothing has been released under their version."""
    for each in ("topics", "avro", "examples", "tables"):
        shutil.copytree(release.REPOSITORY / "schemas" / each, repository / "schemas" / each)
    (repository / "schemas/pyproject.toml").write_text(PROJECT.replace("0.9.1", "7.0.0"))
    names = ", ".join(contract_names(repository))
    (repository / "schemas/CHANGELOG.md").write_text(f"# Changes of schemas\n\n## 7.0.0\n- {names}.\n")
    (repository / "schemas/releases.yaml").write_text("6.0.0: {}\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "contracts")
    return repository


def contract_names(repository):
    data = repository / "schemas"
    return releases.contracts(topic.load(data), table_files.load(data))


def test_contracts_are_released_under_the_version_that_their_change_raised(contracts):
    """With a fingerprint of each that is new; another release needs a version of its own, and raises it."""
    assert release.release(["schemas"], "minor", WHY, contracts) == {"schemas": "7.0.0"}
    noted = yaml.safe_load((contracts / "schemas/releases.yaml").read_text())
    assert noted == {"6.0.0": {}, "7.0.0": contract_names(contracts)}
    assert "schemas" not in yaml.safe_load((contracts / release.RELEASED).read_text())
    assert release.release(["schemas"], "patch", WHY, contracts) == {"schemas": "7.0.1"}
    assert yaml.safe_load((contracts / "schemas/releases.yaml").read_text()) == noted | {"7.0.1": {}}
    assert "## 7.0.1 " in (contracts / "schemas/CHANGELOG.md").read_text()
    assert git(contracts, "status", "--porcelain") == ""


def test_a_contract_that_the_changelog_does_not_name_is_not_released(contracts):
    """Nobody would know what is in it."""
    changes = contracts / "schemas/CHANGELOG.md"
    changes.write_text(changes.read_text().replace("users", ""))
    git(contracts, "commit", "-qam", "say less")
    with pytest.raises(release.ReleaseError, match=r"^users is not as it was released: say in"):
        release.release(["schemas"], "minor", WHY, contracts)
    assert git(contracts, "status", "--porcelain") == ""


def test_the_build_of_contracts_makes_no_image(repository, capsys):
    """They are files in dist/."""
    (repository / "Makefile").write_text("contracts:\n\t@touch made\n")
    release.build({"schemas": "7.0.0"}, "", repository)
    assert (repository / "made").exists()
    assert "make push" not in capsys.readouterr().out


def test_services_released_together_name_one_commit(repository, monkeypatch):
    """What runs beside new code is then one tree, and one environment."""
    for name in ("a-service", "b-service"):
        monkeypatch.setitem(release.FOLDERS, name, name)
        monkeypatch.setitem(release.SERVICES, name, None)
    shutil.copytree(repository / "a-service", repository / "b-service")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a second service")
    release.release(["a-service", "b-service"], "major", WHY, repository)
    named = yaml.safe_load((repository / release.RELEASED).read_text())
    assert (
        named["a-service"]
        == named["b-service"]
        == {"version": "1.0.0", "commit": git(repository, "rev-parse", "HEAD^")}
    )
