"""The job killed in the middle of each step, and Redis killed while it is written: readers never see half a run."""

import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from murmuration_runtime.errors import StoreAwayError
from murmuration_suggested import layout
from murmuration_suggested.reader import SuggestedReader
from murmuration_suggested.writer import connect
from murmuration_testkit.redis_nodes import Node, redis_node

from .job_process import ran, started
from .town import Lists, Town

STACK = ""
SEED = 11
STEPS = ("people", "pairs", "rank", "suggest", "count", "load")
SPARK = {"SPARK_PARTITIONS": "1", "SPARK_PARTS": "2"}
SLOWLY = {"SPARK_PARTITIONS": "1", "SPARK_PARTS": "8", "SPARK_MASTER": "local[1,3]"}  # one part after the other
LONGEST_S = 1.0  # from the beginning of a step to the kill
Seen = list[tuple[str, Lists]]


def killed() -> list[dict[str, Any]]:
    """Load one town, then be killed again and again while another takes its place; at last let it through."""
    before = Town.drawn(300, 8, 3)
    after = replace(before, follows=Town.drawn(300, 8, 4).follows, dismissed=Town.drawn(300, 8, 5).asked)
    expected = [before.expected(), after.expected()]
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="proof-") as directory, redis_node() as node:
        folder = Path(directory)
        old, new = (town.export(folder / name) for name, town in (("old", before), ("new", after)))
        ran(folder, node.url, "run", "--export", old, **SPARK)
        with _reading(node, sorted(before.people)[::10]) as seen:
            for step in STEPS:
                with started(folder, node.url, "run", "--export", new, **SPARK) as job:
                    if not job.wait_for(f"{step} begins"):
                        raise RuntimeError(f"the job ended before {step}")
                    time.sleep(chance.uniform(0, LONGEST_S))
                    job.kill()
            half = _half(seen, expected)
            switched = ran(folder, node.url, "run", "--export", new, **SPARK)
        job_killed = _outcome(
            "the job", f"killed in {', '.join(STEPS)}", node, expected, _half(seen, expected), switched.lines
        )
        job_killed["differences"] += half
        return [job_killed, _redis_killed(folder, node, new, expected)]


def _redis_killed(folder: Path, node: Node, uri: str, expected: list[Lists]) -> dict[str, Any]:
    """Kill Redis as soon as some of a run is there; it comes back empty, and the job writes the run anew."""
    with _reading(node, sorted(expected[0])[::10]) as seen:
        with started(folder, node.url, "run", "--export", uri, **SLOWLY) as job:
            job.wait_for("load begins")
            version = max(path.name for path in (folder / "kept/runs").iterdir())
            while not (there := _lists(node, version)) and job.process.poll() is None:
                time.sleep(0.001)
            node.kill()
            node.start()
            code = job.end()
        faults = f"killed with {there} of {len(expected[-1])} lists"
        outcome = _outcome("Redis", faults, node, expected, _half(seen, expected), job.lines)
    if code or not any("once more" in line for line in job.lines):
        outcome["differences"].append(f"the job ended with {code}, and did not begin writing again")
    return outcome


def _lists(node: Node, version: str) -> int:
    """Count the lists of a run."""
    return sum(layout.version_of(key) == version for key in node.redis.scan_iter(match=layout.LISTS, count=1_000))


@contextmanager
def _reading(node: Node, people: list[str]) -> Iterator[Seen]:
    """Read meanwhile what these people are shown, all by one run, again and again."""
    over, seen = threading.Event(), Seen()

    def read() -> None:
        with closing(connect(node.url)) as nodes:
            reader = SuggestedReader(nodes)
            while not over.is_set():
                try:
                    if run := reader.run():
                        found: Lists = {person: [*(reader.find(person, run.version).of_run or ())] for person in people}
                        if reader.run() == run and (not seen or seen[-1] != (run.version, found)):
                            seen.append((run.version, found))
                except StoreAwayError:
                    over.wait(0.05)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def _half(seen: Seen, expected: list[Lists]) -> list[str]:
    """Say which runs were read that are no town's whole."""
    return [
        f"run {version} was read and is neither"
        for version, found in seen
        if not any(all(found[person] == town.get(person, []) for person in found) for town in expected)
    ]


def _outcome(
    name: str, faults: str, node: Node, expected: list[Lists], half: list[str], lines: list[str]
) -> dict[str, Any]:
    with closing(connect(node.url)) as nodes:
        reader = SuggestedReader(nodes)
        run = reader.run()
        version = run.version if run else None
        wrong = [person for person, shown in expected[-1].items() if reader.find(person, version).of_run != shown]
    return {
        "name": f"runs of suggestions: {name} is killed",
        "faults": faults,
        "compared": "what was read meanwhile with whole runs, and in the end everybody's list with the pure cores'",
        "differences": [*half, *(f"{person} is shown others" for person in wrong)],
        "counts": next((line for line in reversed(lines) if line.startswith("lists ")), "no run came through"),
    }


PROOFS = [killed]
