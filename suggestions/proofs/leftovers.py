"""What killed runs, full disks and other people left behind: the job puts up with it, and deletes what is its own."""

import json
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from murmuration_suggestions.kept_runs import version_of
from murmuration_testkit.redis_nodes import redis_node

from .job_process import PYTHON, ran, started
from .town import Town

STACK = ""
SPARK = {"SPARK_PARTITIONS": "1", "SPARK_PARTS": "2"}
LONG_AGO = "20260101T010000Z"
ON_A_FULL_DISK = """
import resource, signal, sys
from murmuration_suggestions.folders import Folder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
Folder(sys.argv[1]).write_json(["more than fits"] * 1_000)
"""


def leftovers() -> dict[str, Any]:
    """Run once; leave all kinds of things; fail once, and run again."""
    differences: list[str] = []
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, redis_node() as node:
        folder = Path(directory)
        runs, scratch = folder / "kept/runs", folder / "scratch"
        town = Town.drawn(300, 8, 3)
        uri = town.export(folder / "export")

        def compare(what: str, found: object, expected: object) -> None:
            if found != expected:
                differences.append(f"{what}: {found}, not {expected}")

        ran(folder, node.url, "run", "--export", uri, **SPARK)
        (first,) = runs.glob("*/report.json")
        whole = first.read_text("utf-8")
        full = subprocess.run([PYTHON, "-c", ON_A_FULL_DISK, first.as_uri()], check=False)  # noqa: S603 - our own
        compare("whether a full disk is an error", bool(full.returncode), True)
        compare("the report that a full disk did not let be replaced", first.read_text("utf-8"), whole)

        cut = runs / version_of(datetime.now(UTC) - timedelta(hours=1)) / "report.json"
        for left in (cut, runs / LONG_AGO / "people/part-0", runs / "lost+found/it", scratch / LONG_AGO / "whole"):
            left.parent.mkdir(parents=True)
            left.write_text(whole[: len(whole) // 2], "utf-8")
        with started(folder, node.url, "run", "--export", (folder / "nowhere").as_uri(), **SPARK) as job:
            compare("exit code of a run without an export", job.end(), 1)
        compare("whether it deleted what a killed run left", (runs / LONG_AGO).exists(), False)
        second = ran(folder, node.url, "run", "--export", uri, **SPARK)
        compare("whether a report that was cut is named", any("holds no JSON" in line for line in second.lines), True)
        compare("whether what is not ours is there", (runs / "lost+found/it").exists(), True)
        compare("what is on this machine's disk", [each.name for each in scratch.iterdir()], [])
        reports = [json.loads(path.read_text("utf-8")) for path in runs.glob("*/report.json") if path != cut]
        compare("accepted runs", [each["accepted"] for each in reports], [True, True])
    return {
        "name": "runs of suggestions beside what others left",
        "faults": "a disk that is full; a cut report, an old run, an old graph, a stranger's folder; a run that fails",
        "compared": "exit codes, what is deleted and what is not, reports",
        "differences": differences,
        "counts": second.told("lists "),
    }


PROOFS = [leftovers]
