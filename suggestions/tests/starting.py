"""The job's command, started as an operator does."""

import os
import subprocess
import sys

ENVIRONMENT = {"SUGGESTIONS_FOLDER": "file:///nowhere", "SUGGESTIONS_REDIS_URL": "redis://127.0.0.1:1/0"}


def job(*arguments, **environment):
    """Start it, and return what became of it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SUGGESTIONS_", "SPARK_"))}
    command = [sys.executable, "-m", "murmuration_suggestions", *arguments]
    return subprocess.run(  # noqa: S603 - our own job
        command, env=inherited | environment, capture_output=True, text=True, check=False
    )
