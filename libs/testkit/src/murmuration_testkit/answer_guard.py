"""Holds every answer in every test to the OpenAPI document; a plugin of pytest, on in every run.

Rule: whatever an edge answers to Flask's test client is compared with that app's own document, and whatever the gateway
answers to `people`, or a gateway of a test's own by itself, with the document of the whole API. A test in which an
answer differs has failed. Not compared: what gunicorn answers in a test, and what a generated client or the examples of
docs/clients.md ask.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache

import flask
import pytest
import urllib3

from murmuration_testkit import REPOSITORY, people
from murmuration_testkit.answers import Described

WHOLE = REPOSITORY / "deploy/gateway/src/murmuration_gateway/openapi.json"
faults: list[str] = []
_described = cache(lambda document: Described(json.loads(document)))


def pytest_configure() -> None:
    """Listen to every app of Flask's, and to the gateway."""
    flask.request_finished.connect(_answered)
    people.listeners.append(_heard)


@pytest.fixture(autouse=True)
def answers_are_as_described() -> Iterator[None]:
    """Fail the test in which an answer was not what the document says."""
    yield
    found = [*dict.fromkeys(faults)]
    faults.clear()
    assert not found, "\n".join(found)  # noqa: S101


def compare(method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Note in what a gateway's answer to this request differs from the document of the whole API."""
    faults.extend(_whole().faults(method, path, status, headers, body))


def _heard(method: str, path: str, answer: urllib3.BaseHTTPResponse) -> None:
    compare(method, path, answer.status, answer.headers, answer.data)


@cache
def _whole() -> Described:
    return Described(json.loads(WHOLE.read_text("utf-8")))


def _answered(app: flask.Flask, response: flask.Response, **_: object) -> None:
    """Compare; response is what the client gets."""
    if not flask.request.path.startswith("/v1/") or "openapi" not in app.view_functions:
        return
    if __name__ not in app.extensions:
        app.extensions[__name__] = _described(app.ensure_sync(app.view_functions["openapi"])().get_data())
    answer = response.status_code, dict(response.headers), response.get_data()
    faults.extend(app.extensions[__name__].faults(flask.request.method, flask.request.path, *answer))
