"""Starts on tables that had rows before their streams: no event tells of these, so what others keep is made anew.

Rule: first every stream is on and a bridge has seen it, so that whatever is written from then on has its event; then
all counts are compared with the rows, again until none is in doubt; then every account's state is told; then every
timeline is cold. What is done is remembered for these streams, and each job keeps what it has done: a run that is
killed is run again.
"""

import json
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial

from contracts.tables import USERS
from migrating.dynamo_record import Record
from migrating.errors import AdoptError

NAME = "adopt"
BRIDGE, COUNTS, STATES, TIMELINES = "bridge", "counts", "states", "timelines"
PYTHON = shlex.quote(sys.executable)
COMMANDS = {
    BRIDGE: f"{PYTHON} -m cdc_bridge shards",
    COUNTS: f"{PYTHON} -m count_aggregator reconcile --all --rate 500",
    STATES: f"{PYTHON} -m cdc_bridge snapshot {USERS.name}",
    TIMELINES: f"{PYTHON} -m fanout_worker cold --all",
}
PAUSE_S = 2.0
TOLD_EVERY_S = 5.0
say = partial(print, flush=True)


@dataclass(frozen=True)
class Jobs:
    """The services' own commands, in a shell's words; in a cluster each runs in a container of its service."""

    commands: dict[str, str]
    patience_s: float

    def run(self, job: str) -> tuple[int, list[str]]:
        """Run a job, saying meanwhile how far it is; return its exit code and the lines that are no log."""
        began = time.monotonic()
        done: Counter[str] = Counter()
        lines = []
        command = shlex.split(self.commands[job])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:

            def listen() -> None:
                for line in process.stdout or ():
                    if message := _message(line):
                        done[message] += 1
                    else:
                        lines.append(line.rstrip())

            listener = threading.Thread(target=listen)
            listener.start()
            while listener.is_alive():
                listener.join(TOLD_EVERY_S)
                if listener.is_alive():
                    say(f"{job}: running for {time.monotonic() - began:.0f} s{_list(done)}")
        say(f"{job}: ended with {process.returncode} after {time.monotonic() - began:.0f} s{_list(done)}")
        return process.returncode, lines


def adopt(record: Record, streams: dict[str, str], jobs: Jobs) -> None:
    """Do what is not done yet for these streams, the ARN of each by its table."""
    done = record.adopted(streams)
    for job, act in ((BRIDGE, _until_seen), (COUNTS, _recount), (STATES, _tell), (TIMELINES, _make_cold)):
        if job in done:
            say(f"{job}: done before")
            continue
        act(jobs, streams)
        done = [*done, job]
        record.save_adopted(streams, done)
    say("adopted: every row from before the streams is counted and told; timelines are built anew by their next reads")


def _until_seen(jobs: Jobs, streams: dict[str, str]) -> None:
    """Return when a bridge has noted every stream: from then on it misses nothing of them."""
    deadline = time.monotonic() + jobs.patience_s
    while True:
        code, lines = jobs.run(BRIDGE)
        unseen = [table for table, arn in streams.items() if code or not any(arn in line.split() for line in lines)]
        if not unseen:
            return
        if time.monotonic() > deadline:
            raise AdoptError(f"no bridge has seen the stream of {', '.join(unseen)}: start one, then {_again()}")
        say(f"{BRIDGE}: waiting until one has seen the stream of {', '.join(unseen)}")
        time.sleep(PAUSE_S)


def _recount(jobs: Jobs, _: dict[str, str]) -> None:
    """Recount everybody; accounts that were busy are in doubt, and are looked at again."""
    deadline = time.monotonic() + jobs.patience_s
    while True:
        code, lines = jobs.run(COUNTS)
        for line in lines[-1:]:
            say(f"{COUNTS}: {line}")
        if not code:
            return
        if time.monotonic() > deadline:
            raise AdoptError(f"some accounts are still in doubt; what is repaired stays: {_again()}")
        time.sleep(PAUSE_S)


def _tell(jobs: Jobs, streams: dict[str, str]) -> None:
    if USERS.name not in streams:
        say(f"{STATES}: {USERS.name} has no stream yet; when it has, {_again()}")
        return
    _once(jobs, STATES, "states could not be told")


def _make_cold(jobs: Jobs, _: dict[str, str]) -> None:
    _once(jobs, TIMELINES, "timelines could not be made cold")


def _once(jobs: Jobs, job: str, failed: str) -> None:
    code, lines = jobs.run(job)
    for line in lines[-1:]:
        say(f"{job}: {line}")
    if code:
        raise AdoptError(f"{failed}: see the line above, then {_again()}")


def _again() -> str:
    return "run `python deploy/tables.py adopt` again, it goes on where it was"


def _message(line: str) -> str:
    """Return what a line of a log says; nothing if it is none."""
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    return str(entry.get("message", "")) if isinstance(entry, dict) else ""


def _list(done: Counter[str]) -> str:
    return "".join(f", {count} x {message!r}" for message, count in Counter(dict(done)).most_common(3))
