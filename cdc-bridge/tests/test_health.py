import json
import urllib.error
import urllib.request

import pytest

from cdc_bridge.health import serving


@pytest.fixture
def waiting():
    """What the process waits for, for a test to change."""
    return []


@pytest.fixture
def gaps():
    """What was lost, for a test to change."""
    return []


@pytest.fixture
def get(waiting, gaps):
    def ask(path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    with serving("127.0.0.1", 0, lambda: waiting, lambda: gaps) as port:
        yield ask


def test_ready_is_what_the_worker_says(get, waiting):
    """Alive all the while; not ready with the reasons, ready without."""
    assert get("/readyz") == (200, json.dumps({"status": "ready", "waiting_for": [], "gaps": []}))
    waiting.append("table tweets")
    assert get("/readyz") == (503, json.dumps({"status": "waiting", "waiting_for": ["table tweets"], "gaps": []}))
    assert get("/healthz")[0] == 200


def test_a_gap_that_was_passed_shows_though_the_bridge_is_ready(get, gaps):
    """A bridge that goes on makes progress, but it does not say that all is well."""
    gaps.append("gap: followers shard-1: unreadable")
    assert get("/readyz") == (200, json.dumps({"status": "ready", "waiting_for": [], "gaps": gaps}))


def test_metrics_are_served_and_nothing_else(get):
    """Every name that the README gives is there before anything has happened."""
    status, text = get("/metrics")
    assert status == 200
    assert "cdc_bridge_events_published_total" in text
    assert get("/elsewhere")[0] == 404
