"""A newcomer's first minutes: a fresh clone, caches and HOME empty, and the README's first command."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY
from murmuration_testkit.ports import free_port
from murmuration_testkit.services import PROCESSES

STACK = ""
STORES = (
    "GATEWAY",
    "KAFKA",
    "KAFKA_CONTROLLER",
    "DYNAMODB",
    "REGISTRY",
    "REDIS",
    "LIMITS_REDIS",
    "SUGGESTIONS_REDIS",
    "GRAPH_REDIS",
)
KEPT = ("PATH", "LANG", "JAVA_HOME")  # of the environment; whatever else is set here, a newcomer has not
PACKAGE_CLIENTS = ("PIP_", "MAVEN_", "UV_", "SSL_", "http", "https")  # how this machine reaches its package registries


def from_nothing() -> dict[str, Any]:
    """Clone, and run `make demo` on free ports; then take it all away."""
    ports = [f"{name}_PORT" for name in STORES]
    ports += [process.port_variable(port) for process in PROCESSES.values() for port in process.ports]
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        home, clone = Path(directory) / "home", Path(directory) / "clone"
        home.mkdir()
        settings = Path.home() / ".m2/settings.xml"
        if settings.exists():  # says where the packages come from; it holds none
            (home / ".m2").mkdir()
            shutil.copy(settings, home / ".m2/settings.xml")
        environment = {name: value for name, value in os.environ.items() if name in KEPT or _is_of_a_client(name)}
        environment |= {"HOME": str(home), **{port: str(free_port()) for port in ports}}
        began = time.monotonic()
        codes = {}
        for command in (["git", "clone", "-q", str(REPOSITORY), str(clone)], ["make", "demo"], ["make", "reset"]):
            where = clone if clone.exists() else directory
            codes[" ".join(command[:2])] = subprocess.call(command, cwd=where, env=environment)
        seconds = time.monotonic() - began
    return {
        "name": "a fresh clone, caches empty: make demo",
        "faults": "nothing is there: no environment, no parts, no caches, an empty HOME",
        "compared": "the exit codes of git clone, make demo and make reset, with 0",
        "differences": [f"{command} ended with {code}" for command, code in codes.items() if code],
        "counts": f"{seconds:.0f} s from nothing to nothing",
    }


def _is_of_a_client(name: str) -> bool:
    return name.startswith(PACKAGE_CLIENTS) or name.lower().endswith("_proxy")


PROOFS = [from_nothing]
