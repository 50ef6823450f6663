"""A pytest plugin: what tests of every folder use."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from murmuration_runtime import traces

NOBODY = "http://127.0.0.1:9"


def pytest_configure() -> None:
    """Have hypothesis not judge how long an example takes: on a busy machine that says nothing of the code."""
    found = settings()
    unasked = {*found.suppress_health_check, HealthCheck.too_slow}
    settings.register_profile("patient", found, deadline=None, suppress_health_check=unasked)
    settings.load_profile("patient")


@pytest.fixture(scope="session")
def somebody() -> Callable[[], str]:
    """Give a user id that nobody had before, so that tests on shared stores keep out of each other's way."""
    return lambda: f"u-{uuid.uuid4().hex}"


@pytest.fixture
def spans() -> Iterator[Callable[[], Sequence[Any]]]:
    """Trace into memory meanwhile; called, it returns the spans that have ended."""
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415

    from murmuration_runtime.open_telemetry import OpenTelemetry  # noqa: PLC0415

    memory = InMemorySpanExporter()
    tracing = OpenTelemetry("murmuration-runtime", memory)

    def ended() -> Sequence[Any]:
        tracing.flush()
        return memory.get_finished_spans()

    traces.use(tracing)
    yield ended
    traces.use(None)
    tracing.close()


@pytest.fixture
def dynamodb_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every DynamoDB client that is made meanwhile find nobody at its address."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", NOBODY)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
