"""cfn-lint, with every rule for mistakes and warnings, on the templates for AWS; and it does find a mistake."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY

STACK = ""
AWS = REPOSITORY / "deploy/aws"
UV = Path(sys.executable).with_name("uv")
LINT = [str(UV), "tool", "run", "cfn-lint==1.58.0", "--regions", "eu-central-1", "us-east-1", "--"]
MISTAKES = {
    "tables.yaml": ("PAY_PER_REQUEST", "PAY_LATER"),
    "access/tweet-service.yaml": ("dynamodb:PutItem", "dynamodb:PutItems"),
    "readers.yaml": ("kafka-cluster:ReadData", "kafka-cluster:ReadDatum"),
}


def templates() -> dict[str, Any]:
    """Lint the templates, then each with a mistake in it."""
    differences = []
    files = [AWS / name for name in MISTAKES]
    every = sorted(AWS.rglob("*.yaml"))
    if told := _lint(*every):
        differences.append(told)
    with tempfile.TemporaryDirectory(prefix="proof-") as directory:
        for file, (right, wrong) in zip(files, MISTAKES.values(), strict=True):
            broken = Path(directory) / file.name
            broken.write_text(file.read_text().replace(right, wrong, 1))
            if wrong.rpartition(":")[2].lower() not in _lint(broken).lower():
                differences.append(f"cfn-lint has nothing against {wrong} in {file.name}")
    return {
        "name": "deploy/aws through cfn-lint",
        "faults": ", ".join(f"{wrong} for {right}" for right, wrong in MISTAKES.values()),
        "compared": "what cfn-lint says of the templates with nothing, and of each mistake with its name",
        "differences": differences,
        "counts": f"{len(every)} templates",
    }


def _lint(*files: Path) -> str:
    done = subprocess.run([*LINT, *map(str, files)], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip() if done.returncode else ""


PROOFS = [templates]
