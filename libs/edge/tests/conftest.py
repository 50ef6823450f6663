"""The smallest service, and an issuer of tokens that lives as long as the test run."""

import pytest

from murmuration_edge.settings import EdgeSettings
from murmuration_testkit.tokens import Issuer

from .served import create_app

ISSUER = Issuer()
bearer = ISSUER.bearer
SETTINGS = EdgeSettings(**ISSUER.edge_settings)


@pytest.fixture(autouse=True)
def aws(monkeypatch):
    """Let boto3 make its client; nothing here asks a real one."""
    for name, value in {"DEFAULT_REGION": "eu-central-1", "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def http():
    return create_app(SETTINGS, ISSUER).test_client()
