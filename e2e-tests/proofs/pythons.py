"""Every CPython from 3.11 on that this machine has makes an environment, and passes the tests that need no stack."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY

STACK = ""
VERSIONS = ("3.11", "3.12", "3.13")
LOOKED_IN = ("/usr/bin", "/usr/local/bin", "~/.pyenv/versions/{}*/bin", "/opt/python{}*/bin")


def pythons() -> list[dict[str, Any]]:
    """Try each version; one that is not here is a difference, with what to do about it."""
    return [_tried(version) for version in VERSIONS]


def _tried(version: str) -> dict[str, Any]:
    outcome = {
        "name": f"CPython {version}",
        "faults": "a Python other than the one that this environment was made with",
        "compared": "the exit codes of making the environment and of `make unit`, with 0",
    }
    python = _find(version)
    if python is None:
        missing = f"this machine has no python{version}: install it, since newcomers have it"
        return {**outcome, "differences": [missing], "counts": "nothing was run"}
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        clone = Path(directory) / "clone"
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(clone)], check=True)
        commands = (["make", "-s", ".venv/bin/ready", f"PYTHON={python}"], ["make", "-s", "unit", f"PYTHON={python}"])
        codes = [subprocess.call(command, cwd=clone) for command in commands]
    differences = [f"{' '.join(c)} ended with {code}" for c, code in zip(commands, codes, strict=True) if code]
    return {**outcome, "differences": differences, "counts": str(python)}


def _find(version: str) -> Path | None:
    for place in LOOKED_IN:
        folder = Path(place.format(version)).expanduser()
        for path in sorted(Path(folder.anchor).glob(str(folder.relative_to(folder.anchor)))):
            if (python := path / f"python{version}").exists():
                return python
    return None


PROOFS = [pythons]
