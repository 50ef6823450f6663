"""What the plugin of fixtures sets for the tests of every folder."""

from hypothesis import HealthCheck, settings


def test_no_property_fails_because_the_machine_is_busy():
    """Neither by the time of an example nor by that of drawing it."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
