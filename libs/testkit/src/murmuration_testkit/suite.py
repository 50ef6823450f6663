"""Runs benchmarks or drills: each file in a process, an environment and a stack of its own, within a time limit.

Rule: whatever a file does (raise, exit, hang, leave its stack broken), the others run, and the run says so and fails.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from murmuration_testkit import REPOSITORY

TIME_LIMIT_S = 1_800
LAST_WORDS_S = 90  # for a file that is told to end, and for its stack

Result = dict[str, Any]


@dataclass(frozen=True)
class Suite:
    """What there is to run: the files of every such folder that assign this list of callables.

    A file may also assign STACK, the processes that it needs (all unless it does; "" is no stack), and TIME_LIMIT_S.
    """

    name: str
    folder: str
    listed: str
    line: Callable[[Result], str]
    details: Callable[[Result], list[str]]
    good: Callable[[Result], bool] = lambda _: True

    def files(self, root: Path, wanted: str) -> list["File"]:
        """Return the files to run, those whose name contains what is wanted."""
        found = (File.read(path) for path in sorted(root.glob(f"*/{self.folder}/*.py")) if wanted in path.stem)
        return [file for file in found if re.search(rf"^{self.listed} = ", file.text, re.MULTILINE)]


@dataclass(frozen=True)
class File:
    """One file of a suite, as its text describes it: only its own process imports it."""

    path: Path
    text: str
    stack: str | None
    time_limit_s: int

    @classmethod
    def read(cls, path: Path) -> "File":
        """Read what the file says of itself."""
        text = path.read_text()
        stack = re.search(r'^STACK = "(.*)"', text, re.MULTILINE)
        limit = re.search(r"^TIME_LIMIT_S = ([\d_]+)", text, re.MULTILINE)
        return cls(path, text, stack[1] if stack else None, int(limit[1]) if limit else TIME_LIMIT_S)


@dataclass
class Outcome:
    """What became of one file."""

    file: str
    results: list[Result] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main(suite: Suite, arguments: list[str] | None = None, root: Path = REPOSITORY) -> int:
    """Run the files, say it all once more in short and as JSON; 0 if every file ran to its end and found all well."""
    parser = argparse.ArgumentParser(description=f"Run every {suite.name} of the repository, or some of them.")
    parser.add_argument("only", nargs="?", default="", help="part of the names of the files to run")
    parser.add_argument("--json", type=Path, help="where to write the results (default: .stack/)")
    asked = parser.parse_args(arguments)
    files = suite.files(root, asked.only)
    if not files:
        names = ", ".join(file.path.stem for file in suite.files(root, ""))
        print(f"no {suite.name} has {asked.only!r} in its name; there are: {names}", file=sys.stderr)
        return 2
    report = asked.json or root / f".stack/{suite.name}{asked.only and '-' + asked.only}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    about = {**machine(), **commit(root), "date": f"{datetime.now(UTC):%FT%TZ}", "load_before": os.getloadavg()}
    outcomes: list[Outcome] = []
    for outcome in (run(suite, file, root) for file in files):
        outcomes.append(outcome)
        report.write_text(json.dumps(about | {"load_after": os.getloadavg()} | told(outcomes), indent=1) + "\n")
    print("\nSummary")
    for outcome in outcomes:
        for result in outcome.results:
            print(f"  {suite.line(result)}")
        for failure in outcome.failures:
            print(f"  FAILED {outcome.file}: {failure}")
    print(f"as JSON: {report}")
    whole = not any(outcome.failures for outcome in outcomes)
    return 0 if whole and all(suite.good(result) for outcome in outcomes for result in outcome.results) else 1


def run(suite: Suite, file: File, root: Path) -> Outcome:
    """Run one file to its end or to its time limit, and print what it found."""
    outcome = Outcome(str(file.path.relative_to(root)))
    print(f"\n{outcome.file}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"{suite.name}-") as directory:
        answer = Path(directory) / "results.json"
        module = ".".join(file.path.relative_to(root).with_suffix("").parts)
        command = [sys.executable, "-m", "murmuration_testkit.one_file", module, suite.listed, str(answer)]
        ended = _to_the_end([*_on_its_stack(suite, file), *command], root, file.time_limit_s)
        said: dict[str, Any] = {"results": [], "failures": [], "whole": False}
        if answer.exists():
            said = json.loads(answer.read_text())
    outcome.results, outcome.failures, outcome.seconds = said["results"], said["failures"], time.monotonic() - began
    if ended or not said["whole"]:
        outcome.failures.append(ended or "ended before all of it had run")
    for result in outcome.results:
        print("\n    ".join([f"  {suite.line(result)}", *suite.details(result)]), flush=True)
    for failure in outcome.failures:
        print(f"  FAILED {failure}", flush=True)
    return outcome


def told(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return what the report says of the files."""
    return {
        "results": [{"file": outcome.file, **result} for outcome in outcomes for result in outcome.results],
        "failures": [{"file": outcome.file, "why": why} for outcome in outcomes for why in outcome.failures],
        "seconds": {outcome.file: round(outcome.seconds, 1) for outcome in outcomes},
    }


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    kilobytes = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return {
        "machine": {
            "cpu": model[1] if model else "unknown",
            "cores": os.cpu_count(),
            "memory_gb": round(int(kilobytes[1]) * 1024 / 1e9, 1) if kilobytes else None,
        }
    }


def commit(root: Path) -> dict[str, Any]:
    """Return which code ran; dirty if it is not what the commit has."""
    return {"commit": _git(root, "rev-parse", "HEAD"), "dirty": bool(_git(root, "status", "--porcelain"))}


def _on_its_stack(suite: Suite, file: File) -> Iterator[str]:
    """Give the words that bring up the file's stack and take it away afterwards; nothing if it needs none."""
    if file.stack == "":
        return
    if file.stack is not None and "kafka-3" in file.stack.split(","):
        yield from ("env", "KAFKA_NODES=3")
    yield from (sys.executable, "deploy/local/stack.py", "run", "--name", f"{suite.name}-{file.path.stem}")
    if file.stack is not None:
        yield from ("--only", file.stack)
    yield "--"


def _to_the_end(command: list[str], root: Path, limit_s: float) -> str:
    """Run a command, and say why it did not end well; nothing if it did. It leaves no process behind."""
    tied = ["setpriv", "--pdeathsig", "TERM", *command]
    with subprocess.Popen(tied, cwd=root, stdin=subprocess.DEVNULL, start_new_session=True) as child:
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return f"not finished within its time limit of {limit_s:,} s"
        finally:
            _end(child)
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}" if code else ""


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End a command that still runs, first by asking, and then all that is left of its session."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            child.kill()
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True).stdout.strip()
