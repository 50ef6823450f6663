"""For gunicorn: the service as it is, with one route more that does nothing; and the page as by hand."""

import os
from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from flask import Flask, Response

from timeline_service.app import create_app

from .by_hand import app_by_hand


class OneKey:
    """An issuer with one key, which the bench gave us."""

    def __init__(self) -> None:
        self._key = load_pem_public_key(os.environ["BENCH_PUBLIC_KEY"].encode())

    def key(self, kid: str | None) -> Any:  # noqa: ARG002
        """Return it."""
        return self._key


def create() -> Flask:
    """Build the service for gunicorn."""
    app = create_app(keys=OneKey())
    app.add_url_rule("/v1/nothing", view_func=lambda: Response("{}", content_type="application/json"))
    return app


def by_hand() -> Flask:
    """Build what the page is compared with."""
    return app_by_hand(OneKey())
