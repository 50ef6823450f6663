"""These tests speak to a whole stack; `make test` brings one up."""

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session", autouse=True)
def stack():
    """Fail at once, and say why, where there is no stack."""
    if "STACK_NAME" not in os.environ:
        pytest.exit("these tests need a stack: run `make test`", returncode=2)
