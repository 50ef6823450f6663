"""What a worker lacks is named before it starts."""

import pytest

from murmuration_runtime.settings import read
from murmuration_worker.settings import WorkerSettings


def test_a_patience_that_is_no_number_is_named(monkeypatch):
    """And so is what is missing, at once."""
    for name in WorkerSettings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("STALL_SECONDS", "abc")
    with pytest.raises(SystemExit) as ended:
        read(WorkerSettings)
    told = str(ended.value)
    assert "STALL_SECONDS is 'abc'" in told
    assert "KAFKA_BOOTSTRAP_SERVERS is not set" in told
