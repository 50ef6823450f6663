"""What a bridge is not told, it says by name."""

import pytest

from cdc_bridge.settings import Settings
from murmuration_runtime.settings import read

NEEDED = {"KAFKA_BOOTSTRAP_SERVERS": "k:9092", "SCHEMA_REGISTRY_URL": "http://r", "ADMIN_PORT": "8114"}


@pytest.fixture
def env(monkeypatch):
    """An environment with what a bridge needs, and nothing else of ours."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.usefixtures("env")
def test_the_rest_has_defaults():
    settings = read(Settings)
    assert (settings.gap_policy, settings.start_position, settings.lease_seconds) == ("fail", "TRIM_HORIZON", 10)


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_a_missing_variable_is_named(env, name):
    """No default that only suits a laptop."""
    env.delenv(name)
    with pytest.raises(SystemExit, match=f"{name} is not set"):
        read(Settings)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("GAP_POLICY", "ignore", "'fail' or 'continue'"),
        ("START_POSITION", "latest", "'TRIM_HORIZON' or 'LATEST'"),
        ("LEASE_SECONDS", "ten", "a valid number"),
        ("LEASE_SECONDS", "0", "greater than 0"),
    ],
)
def test_a_wrong_value_is_named_with_what_there_is(env, name, value, reason):
    """A policy that is misspelt must not become the default."""
    env.setenv(name, value)
    with pytest.raises(SystemExit, match=f"{name} is '{value}': .*{reason}"):
        read(Settings)
