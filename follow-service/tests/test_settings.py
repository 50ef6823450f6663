"""The environment, read once."""

import pytest

from follow_service.settings import Settings


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Set what must be set."""
    for name in ("JWT_JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv("FOLLOWING_CAP", raising=False)


@pytest.mark.parametrize(("text", "cap"), [(None, 5_000), ("7", 7)])
def test_the_cap_is_5000_unless_it_is_set(monkeypatch, text, cap):
    """As DESIGN has it."""
    if text:
        monkeypatch.setenv("FOLLOWING_CAP", text)
    assert Settings.from_environment().following_cap == cap


@pytest.mark.parametrize(("name", "text"), [("FOLLOWING_CAP", "many"), ("FOLLOWING_CAP", "-1"), ("JWT_ISSUER", None)])
def test_what_is_missing_or_odd_stops_the_start(monkeypatch, name, text):
    """And is named."""
    monkeypatch.setenv(name, text) if text else monkeypatch.delenv(name)
    with pytest.raises(SystemExit, match=name):
        Settings.from_environment()
