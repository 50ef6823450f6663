"""The job as a process of its own, as an operator starts it: in the environment that has Spark."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from murmuration_testkit import REPOSITORY

PYTHON = REPOSITORY / "suggestions/.venv/bin/python"
LIMIT_S = 900


@dataclass
class JobProcess:
    """One run: what it says, as it says it."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    said: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, beginning: str) -> bool:
        """Wait until it says a line that begins so; False if it ends before."""
        with self.said:
            self.said.wait_for(lambda: self._has(beginning) or self.process.poll() is not None, LIMIT_S)
        return self._has(beginning)

    def end(self) -> int:
        """Wait until it ends by itself; return its exit code."""
        return self.process.wait(LIMIT_S)

    def kill(self) -> None:
        """Kill -9 it and all that it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def told(self, beginning: str) -> str:
        """Return the line that begins so."""
        return next(line for line in self.lines if line.startswith(beginning))

    def _has(self, beginning: str) -> bool:
        return any(line.startswith(beginning) for line in self.lines)

    def listen(self, stream: IO[str]) -> None:
        """Take down what it says."""
        for line in stream:
            print(f"    {line}", end="", flush=True)
            with self.said:
                self.lines.append(line.rstrip())
                self.said.notify_all()
        self.process.wait()
        with self.said:
            self.said.notify_all()


@contextmanager
def started(folder: Path, redis_url: str, *arguments: str, **more: str) -> Iterator[JobProcess]:
    """Start it; what is left of it in the end is killed."""
    environment = {
        "TABLE_PREFIX": "",
        **os.environ,
        "SUGGESTIONS_FOLDER": (folder / "kept").as_uri(),
        "SUGGESTIONS_SCRATCH": str(folder / "scratch"),
        "SUGGESTIONS_REDIS_URL": redis_url,
        "SPARK_MASTER": "local[2,3]",
        **more,
    }
    command = [str(PYTHON), "-m", "murmuration_suggestions", *arguments]
    with subprocess.Popen(  # noqa: S603 - our own job
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=REPOSITORY,
        start_new_session=True,
    ) as process:
        job = JobProcess(process)
        assert process.stdout is not None
        listener = threading.Thread(target=job.listen, args=(process.stdout,))
        listener.start()
        try:
            yield job
        finally:
            if process.poll() is None:
                job.kill()
            listener.join()


def ran(folder: Path, redis_url: str, *arguments: str, **more: str) -> JobProcess:
    """Run it to its end; raise unless it went well."""
    with started(folder, redis_url, *arguments, **more) as job:
        code = job.end()
    if code:
        raise RuntimeError(f"the job ended with {code}: {job.lines[-3:]}")
    return job
