"""What two places must say alike, although nothing ties them."""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.stack(shared=False)


def test_no_released_schema_was_ever_changed():
    """Not even together with its fingerprint: the history shows it."""
    history = ["git", "log", "--diff-filter=MDR", "--format=%h %s", "--", "schemas/avro"]
    changed = subprocess.run(history, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    assert changed.stdout == ""
