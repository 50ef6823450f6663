import pytest

from cdc_bridge.settings import SettingError, Settings

ENV = {"KAFKA_BOOTSTRAP_SERVERS": "k:9092", "SCHEMA_REGISTRY_URL": "http://r", "PORT": "8104"}


@pytest.mark.parametrize("name", sorted(ENV))
def test_a_missing_variable_is_named(name):
    """No default that only suits a laptop."""
    with pytest.raises(SettingError, match=name):
        Settings.from_env({key: value for key, value in ENV.items() if key != name})


def test_the_rest_has_defaults():
    settings = Settings.from_env(ENV)
    assert (settings.port, settings.host, settings.table_prefix) == (8104, "0.0.0.0", "")  # noqa: S104
    assert (settings.gap_policy, settings.start, settings.lease_seconds) == ("fail", "TRIM_HORIZON", 10)


def test_a_malformed_number_is_named():
    with pytest.raises(SettingError, match="LEASE_SECONDS is 'ten'"):
        Settings.from_env(ENV | {"LEASE_SECONDS": "ten"})


@pytest.mark.parametrize(("name", "value"), [("GAP_POLICY", "ignore"), ("START_POSITION", "latest")])
def test_an_unknown_choice_is_named_with_what_there_is(name, value):
    """A policy that is misspelt must not become the default."""
    with pytest.raises(SettingError, match=f"{name} is '{value}', which is none of"):
        Settings.from_env(ENV | {name: value})
