"""What is wrong in the environment is named before anything starts."""

import pytest
from pydantic import PositiveFloat

from murmuration_runtime.settings import ServiceSettings, read


class Settings(ServiceSettings):
    redis_url: str
    stall_seconds: PositiveFloat = 90


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    """Start from an environment with nothing of ours in it."""
    for name in (*Settings.model_fields, "PORT"):
        monkeypatch.delenv(name.upper(), raising=False)


def test_every_setting_comes_from_the_variable_of_its_name(monkeypatch):
    """What is not set has its default."""
    for name, value in {"ADMIN_PORT": "9100", "REDIS_URL": "redis://r/0", "STALL_SECONDS": "2.5"}.items():
        monkeypatch.setenv(name, value)
    settings = read(Settings)
    assert (settings.admin_port, settings.redis_url, settings.stall_seconds) == (9100, "redis://r/0", 2.5)
    assert (settings.table_prefix, settings.log_level, settings.host) == ("", "INFO", "0.0.0.0")  # noqa: S104


def test_everything_that_is_missing_or_wrong_is_named_at_once(monkeypatch):
    """A start that fails three times for three reasons wastes an afternoon."""
    monkeypatch.setenv("STALL_SECONDS", "abc")
    monkeypatch.setenv("ADMIN_PORT", "")
    with pytest.raises(SystemExit) as ended:
        read(Settings)
    told = str(ended.value)
    assert "REDIS_URL is not set" in told
    assert "STALL_SECONDS is 'abc': input should be a valid number" in told
    assert "ADMIN_PORT is ''" in told


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_a_value_out_of_range_is_refused(monkeypatch, value):
    """Not started with, and found out much later."""
    for name, text in {"ADMIN_PORT": "9100", "REDIS_URL": "redis://r/0", "STALL_SECONDS": value}.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit, match="STALL_SECONDS"):
        read(Settings)
