"""Seen from outside: alive, ready, measured, described."""

import logging
import threading
from collections.abc import Callable, Mapping
from importlib.resources import files

from flask import Blueprint, Response, jsonify
from flask.typing import ResponseReturnValue
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from timeline_service.telemetry import METRICS

Checks = Mapping[str, Callable[[], None]]
_log = logging.getLogger(__name__)


def waiting_for(checks: Checks) -> list[str]:
    """Name what does not answer, and what it said."""
    missing = []
    for name, check in checks.items():
        try:
            check()
        except Exception as error:  # noqa: BLE001 - whatever it is, we are not ready
            missing.append(f"{name}: {error}")
    return missing


def announce(checks: Checks, pause: float = 1.0) -> None:
    """Log what the start waits for, until nothing is missing. Requests meanwhile are answered with 503."""

    def wait() -> None:
        said: list[str] = []
        while missing := waiting_for(checks):
            if missing != said:
                _log.warning("waiting", extra={"waiting_for": missing})
                said = missing
            threading.Event().wait(pause)
        _log.info("ready")

    threading.Thread(target=wait, daemon=True).start()


def once(check: Callable[[], None]) -> Callable[[], None]:
    """Return a check that, once passed, is not made again."""
    passed = threading.Event()

    def first() -> None:
        if not passed.is_set():
            check()
            passed.set()

    return first


def blueprint(package: str, checks: Checks) -> Blueprint:
    """Routes for probes, scrapers and readers of the API."""
    bp = Blueprint("health", __name__)

    @bp.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return jsonify(status="alive")

    @bp.get("/readyz")
    def readyz() -> ResponseReturnValue:
        missing = waiting_for(checks)
        return jsonify(status="waiting" if missing else "ready", waiting_for=missing), 503 if missing else 200

    @bp.get("/metrics")
    def metrics() -> ResponseReturnValue:
        return Response(generate_latest(METRICS), content_type=CONTENT_TYPE_LATEST)

    @bp.get("/openapi.json")
    def openapi() -> ResponseReturnValue:
        return Response(files(package).joinpath("openapi.json").read_bytes(), content_type="application/json")

    return bp
