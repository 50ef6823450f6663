"""A contract that changes has a line in the changelog, under a version that nobody can have pinned yet."""

import re
from pathlib import Path

import pytest
import yaml

from contracts import TOPICS, releases, table_files
from contracts.topic import DATA

SCHEMAS = Path(__file__).parents[1]
NOW = {"Knocked 1": "aa", "Knocked": "bb", "doors": "cc"}


@pytest.fixture
def data(tmp_path):
    """A folder in which 1.0.0 has been released with all of NOW; returns how to write the changelog."""
    (tmp_path / "releases.yaml").write_text(yaml.safe_dump({"1.0.0": NOW}))
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\nSince Knocked 2.\n\n## 1.0.0\n- All of it.\n")
    return tmp_path


def say(data, version, line):
    path = data / "CHANGELOG.md"
    path.write_text(f"# Changes\n\n## {version}\n- {line}\n\n{path.read_text().partition('Since Knocked 2.')[2]}")


def test_nothing_changed_and_nothing_is_to_be_said(data):
    """The changelog begins with the version that is released."""
    assert [*releases.findings(NOW, data)] == []
    assert releases.unreleased(NOW, data) == {}
    assert releases.is_released(data)


@pytest.mark.parametrize(
    "changed", [NOW | {"Knocked 2": "dd"}, NOW | {"doors": "dd"}, {"Knocked": "bb", "doors": "cc"}]
)
def test_a_change_under_a_released_version_is_refused(data, changed):
    """Whoever pinned that version has something else."""
    (found,) = releases.findings(changed, data)
    (name,) = releases.unreleased(changed, data)
    assert found.startswith(f"{name} is not as 1.0.0 has it, which is released: raise the version in pyproject.toml, ")


@pytest.mark.parametrize("line", ["Something.", "Knocked 21.", "Knocked 2x", "Knocked."])
def test_a_change_that_the_changelog_does_not_name_is_refused(data, line):
    """Under the new version; what an older one says of it does not count."""
    say(data, "1.1.0", line)
    (found,) = releases.findings(NOW | {"Knocked 2": "dd"}, data)
    assert found == "Knocked 2 is not as it was released: say in CHANGELOG.md under 1.1.0 what changes of Knocked 2"


def test_a_change_that_is_named_can_be_released(data):
    """Once, and then it is what others are held to."""
    say(data, "1.1.0", "Knocked 2 says why; `doors` are gone.")
    after = {"Knocked 1": "aa", "Knocked 2": "dd", "Knocked": "bb"}
    assert [*releases.findings(after, data)] == []
    assert releases.unreleased(after, data) == {"Knocked 2": "dd", "doors": "gone"}
    assert not releases.is_released(data)
    assert releases.since("Knocked 2", data) == "1.1.0"
    (data / "releases.yaml").write_text(releases.noted("1.1.0", after, data))
    assert releases.is_released(data)
    assert releases.unreleased(after, data) == {}
    assert releases.unreleased(NOW, data) == {"doors": "cc", "Knocked 2": "gone"}
    assert [releases.since(name, data) for name in after] == ["1.0.0", "1.1.0", "1.0.0"]


def test_our_own_contracts_are_as_released_or_named():
    """The package's version moves with each of them."""
    now = releases.contracts(TOPICS, table_files.load(DATA))
    assert [*releases.findings(now, DATA)] == []
    assert f'\nversion = "{releases.version(DATA)}"\n' in (SCHEMAS / "pyproject.toml").read_text()


def test_every_release_has_its_lines_in_the_changelog():
    """Also those of settings.yaml."""
    told = set(re.findall(r"^## (\S+)", (SCHEMAS / "CHANGELOG.md").read_text(), re.MULTILINE))
    for file in ("settings.yaml", "releases.yaml"):
        assert set(yaml.safe_load((SCHEMAS / file).read_text())) <= told, file


@pytest.mark.parametrize("entries", [{"key": "follower_id"}, {"retention_days": 8}, {"headers": ["event_id"]}])
def test_what_a_consumer_rests_on_is_in_the_fingerprint_of_a_topic(rewritten, entries):
    assert rewritten("topics/FollowChanged.yaml", entries) == ["FollowChanged"]


@pytest.mark.parametrize("entries", [{"consumers": ["count-aggregator"]}, {"description": "Other words."}])
def test_what_nobody_rests_on_is_not(rewritten, entries):
    """A new consumer needs no release."""
    assert rewritten("topics/FollowChanged.yaml", entries) == []


@pytest.mark.parametrize(
    ("attribute", "changed"),
    [({"followed_at": {"type": "S"}}, ["followers"]), ({"followed_at": {"means": "another thing"}}, [])],
)
def test_the_shape_of_a_table_is_in_its_fingerprint(rewritten, attribute, changed):
    assert rewritten("tables/followers.yaml", {"attributes": attribute}) == changed
