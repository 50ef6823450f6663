"""The service as it will be when the layout in Redis has its next version; fanout-worker/drills/layouts.py runs it."""

import os

from flask import Flask

from murmuration_timelines.layout import VERSION
from murmuration_timelines.reader import TimelineReader, connect
from timeline_service.app import create_app


def create() -> Flask:
    """Build the service for gunicorn."""
    return create_app(cache=TimelineReader(connect(os.environ["REDIS_URL"]), version=VERSION + 1))
